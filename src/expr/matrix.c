// SPDX-License-Identifier: Apache-2.0
#include "expr/matrix.h"

#include <stdio.h>
#include <string.h>

const PawlMatrixFunctionInfo pawl_matrix_function_info[PAWL_MATRIX_FUNCTIONS] = {
    [PAWL_MATRIX_DOT] = {"dot", 2, 2},           [PAWL_MATRIX_CROSS] = {"cross", 2, 2},
    [PAWL_MATRIX_NORM] = {"norm", 1, 1},         [PAWL_MATRIX_TRANSPOSE] = {"transpose", 1, 1},
    [PAWL_MATRIX_ROTATION] = {"rotation", 1, 2},
};

int pawl_matrix_function_find(const char* word) {
  for (int k = 0; k < PAWL_MATRIX_FUNCTIONS; k++) {
    if (strcmp(pawl_matrix_function_info[k].word, word) == 0) {
      return k;
    }
  }
  return -1;
}

int pawl_matrix_component(const char* word) {
  bool known = word[0] >= 'x' && word[0] <= 'z' && word[1] == '\0';
  return known ? word[0] - 'x' : -1;
}

// ---- shapes -------------------------------------------------------------------------------------
bool pawl_matrix_is_complete(const PawlMatrix* a) {
  for (int k = 0; k < pawl_matrix_count(a); k++) {
    if (a->at[k] == PAWL_NO_NODE) {
      return false;
    }
  }
  return true;
}

bool pawl_matrix_same_shape(const PawlMatrix* a, const PawlMatrix* b) {
  return a->rows == b->rows && a->cols == b->cols;
}

const char* pawl_matrix_shape(const PawlMatrix* a) {
  static const char* const vectors[] = {"", "a number", "a vector of 2", "a vector of 3"};
  static const char* const matrices[] = {"", "", "a matrix of 2 by 2", "a matrix of 3 by 3"};
  return a->cols > 1 ? matrices[a->rows] : vectors[a->rows];
}

static bool any_shapeless(int count, const PawlMatrix* args, PawlMatrix* out) {
  for (int k = 0; k < count; k++) {
    if (pawl_is_shapeless(&args[k])) {
      *out = args[k];
      return true;
    }
  }
  return false;
}

static bool refuse_pair(const char* what, const PawlMatrix* a, const PawlMatrix* b, char* why) {
  snprintf(why, PAWL_MATRIX_WHY, "%s: %s and %s", what, pawl_matrix_shape(a), pawl_matrix_shape(b));
  return false;
}

// ---- operations ---------------------------------------------------------------------------------
static bool each(PawlDag* dag, PawlOp op, const PawlMatrix* a, const PawlMatrix* b, PawlMatrix* out,
                 char* why) {
  if (!pawl_matrix_same_shape(a, b)) {
    return refuse_pair(op == PAWL_OP_ADD   ? "a sum needs two of one shape"
                       : op == PAWL_OP_SUB ? "a difference needs two of one shape"
                                           : "the branches of an if need one shape",
                       a, b, why);
  }
  PawlMatrix result = *a;
  for (int k = 0; k < pawl_matrix_count(a); k++) {
    result.at[k] = pawl_dag_apply(dag, op, a->at[k], b->at[k], PAWL_NO_NODE);
  }
  *out = result;
  return true;
}

// Each number of `a` times or over the number `k`.
static PawlMatrix scale(PawlDag* dag, PawlOp op, const PawlMatrix* a, PawlNode k) {
  PawlMatrix result = *a;
  for (int i = 0; i < pawl_matrix_count(a); i++) {
    result.at[i] =
        op == PAWL_OP_MUL ? pawl_dag_mul(dag, k, a->at[i]) : pawl_dag_div(dag, a->at[i], k);
  }
  return result;
}

// The products along row i of A and column j of B.
static PawlNode entry(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b, int i, int j) {
  PawlNode sum = pawl_dag_mul(dag, a->at[i * a->cols], b->at[j]);
  for (int k = 1; k < a->cols; k++) {
    PawlNode product = pawl_dag_mul(dag, a->at[i * a->cols + k], b->at[k * b->cols + j]);
    sum = pawl_dag_add(dag, sum, product);
  }
  return sum;
}

static bool multiply(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b, PawlMatrix* out,
                     char* why) {
  if (pawl_is_number(a) || pawl_is_number(b)) {
    *out = pawl_is_number(a) ? scale(dag, PAWL_OP_MUL, b, a->at[0])
                             : scale(dag, PAWL_OP_MUL, a, b->at[0]);
    return true;
  }
  if (pawl_is_vector(a)) {
    return refuse_pair(pawl_is_vector(b) ? "vectors are multiplied by dot(a, b) or cross(a, b)"
                                         : "a matrix stands before what it multiplies",
                       a, b, why);
  }
  if (a->cols != b->rows) {
    return refuse_pair("a product needs sizes that fit", a, b, why);
  }
  PawlMatrix result = {a->rows, b->cols, {0}};
  for (int i = 0; i < result.rows; i++) {
    for (int j = 0; j < result.cols; j++) {
      result.at[i * result.cols + j] = entry(dag, a, b, i, j);
    }
  }
  *out = result;
  return true;
}

static bool divide(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b, PawlMatrix* out,
                   char* why) {
  if (!pawl_is_number(b)) {
    return refuse_pair("only a number can divide", a, b, why);
  }
  *out = scale(dag, PAWL_OP_DIV, a, b->at[0]);
  return true;
}

static PawlMatrix negate(PawlDag* dag, const PawlMatrix* a) {
  PawlMatrix result = *a;
  for (int k = 0; k < pawl_matrix_count(a); k++) {
    result.at[k] = pawl_dag_neg(dag, a->at[k]);
  }
  return result;
}

static bool choose(PawlDag* dag, const PawlMatrix* args, PawlMatrix* out, char* why) {
  if (!pawl_is_number(&args[0]) || !pawl_matrix_same_shape(&args[1], &args[2])) {
    return refuse_pair("the branches of an if need one shape", &args[1], &args[2], why);
  }
  PawlMatrix result = args[1];
  for (int k = 0; k < pawl_matrix_count(&result); k++) {
    result.at[k] = pawl_dag_apply(dag, PAWL_OP_IF, args[0].at[0], args[1].at[k], args[2].at[k]);
  }
  *out = result;
  return true;
}

bool pawl_matrix_operate(PawlDag* dag, PawlOp op, const char* word, int count,
                         const PawlMatrix* args, PawlMatrix* out, char* why) {
  if (any_shapeless(count, args, out)) {
    return true;
  }
  if (op == PAWL_OP_ADD || op == PAWL_OP_SUB) {
    return each(dag, op, &args[0], &args[1], out, why);
  }
  if (op == PAWL_OP_MUL) {
    return multiply(dag, &args[0], &args[1], out, why);
  }
  if (op == PAWL_OP_DIV) {
    return divide(dag, &args[0], &args[1], out, why);
  }
  if (op == PAWL_OP_IF) {
    return choose(dag, args, out, why);
  }
  if (op == PAWL_OP_NEG) {
    *out = negate(dag, &args[0]);
    return true;
  }
  const PawlMatrix* wrong = args;
  while (pawl_is_number(wrong)) {
    wrong++;
  }
  snprintf(why, PAWL_MATRIX_WHY, "%s takes numbers, found %s%s", word, pawl_matrix_shape(wrong),
           op == PAWL_OP_POW ? "; the square of a vector is dot(a, a)" : "");
  return false;
}

bool pawl_matrix_literal(int count, const PawlMatrix* args, PawlMatrix* out, char* why) {
  if (any_shapeless(count, args, out)) {
    return true;
  }
  for (int k = 1; k < count; k++) {
    if (!pawl_matrix_same_shape(&args[0], &args[k])) {
      return refuse_pair("the entries of [ ] need one shape", &args[0], &args[k], why);
    }
  }
  bool rows = pawl_is_vector(&args[0]);
  if (count < 2 || count > 3 || (!rows && !pawl_is_number(&args[0])) ||
      (rows && args[0].rows != count)) {
    snprintf(why, PAWL_MATRIX_WHY,
             "a vector has 2 or 3 numbers, a matrix as many rows as columns; found %d entr%s, each "
             "%s",
             count, count == 1 ? "y" : "ies", count > 0 ? pawl_matrix_shape(&args[0]) : "nothing");
    return false;
  }
  PawlMatrix result = {count, rows ? count : 1, {0}};
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < result.cols; j++) {
      result.at[i * result.cols + j] = args[i].at[j];
    }
  }
  *out = result;
  return true;
}

bool pawl_matrix_part(const PawlMatrix* a, int component, PawlMatrix* out, char* why) {
  if (pawl_is_shapeless(a)) {
    *out = *a;
    return true;
  }
  if (!pawl_is_vector(a) || component >= a->rows) {
    snprintf(why, PAWL_MATRIX_WHY, "%s has no .%c", pawl_matrix_shape(a), 'x' + component);
    return false;
  }
  *out = pawl_number(a->at[component]);
  return true;
}

// ---- functions ----------------------------------------------------------------------------------
PawlNode pawl_matrix_dot(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b) {
  PawlNode sum = pawl_dag_mul(dag, a->at[0], b->at[0]);
  for (int k = 1; k < a->rows; k++) {
    sum = pawl_dag_add(dag, sum, pawl_dag_mul(dag, a->at[k], b->at[k]));
  }
  return sum;
}

// a_i b_j - a_j b_i
static PawlNode minor_of(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b, int i, int j) {
  return pawl_dag_sub(dag, pawl_dag_mul(dag, a->at[i], b->at[j]),
                      pawl_dag_mul(dag, a->at[j], b->at[i]));
}

static PawlMatrix cross(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b) {
  if (a->rows == 2) {
    return pawl_number(minor_of(dag, a, b, 0, 1));
  }
  return (PawlMatrix){
      3, 1, {minor_of(dag, a, b, 1, 2), minor_of(dag, a, b, 2, 0), minor_of(dag, a, b, 0, 1)}};
}

static PawlMatrix transpose(const PawlMatrix* a) {
  PawlMatrix result = *a;
  for (int i = 0; i < a->rows; i++) {
    for (int j = 0; j < a->cols; j++) {
      result.at[j * a->rows + i] = a->at[i * a->cols + j];
    }
  }
  return result;
}

// In the plane, [c -s; s c].
static PawlMatrix turn(PawlDag* dag, PawlNode angle) {
  PawlNode c = pawl_dag_unary(dag, PAWL_OP_COS, angle);
  PawlNode s = pawl_dag_unary(dag, PAWL_OP_SIN, angle);
  return (PawlMatrix){2, 2, {c, pawl_dag_neg(dag, s), s, c}};
}

// Euler's formula, R = c I + (1 - c) n n^T + s [n]x with the unit vector n of the axis.
static PawlMatrix turn_about(PawlDag* dag, const PawlMatrix* axis, PawlNode angle) {
  PawlNode length = pawl_dag_unary(dag, PAWL_OP_SQRT, pawl_matrix_dot(dag, axis, axis));
  PawlMatrix n = scale(dag, PAWL_OP_DIV, axis, length);
  PawlNode c = pawl_dag_unary(dag, PAWL_OP_COS, angle);
  PawlNode s = pawl_dag_unary(dag, PAWL_OP_SIN, angle);
  PawlNode rest = pawl_dag_sub(dag, pawl_dag_const(dag, 1.0), c);
  PawlMatrix R = {3, 3, {0}};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    PawlNode across = pawl_dag_mul(dag, rest, pawl_dag_mul(dag, n.at[i], n.at[j]));
    PawlNode twist = pawl_dag_mul(dag, s, n.at[k]);
    R.at[4 * i] = pawl_dag_add(dag, c, pawl_dag_mul(dag, rest, pawl_dag_powi(dag, n.at[i], 2)));
    R.at[3 * i + j] = pawl_dag_sub(dag, across, twist);
    R.at[3 * j + i] = pawl_dag_add(dag, across, twist);
  }
  return R;
}

static bool refuse_call(PawlMatrixFunction function, const char* takes, int count,
                        const PawlMatrix* args, char* why) {
  snprintf(why, PAWL_MATRIX_WHY, "%s takes %s, found %s%s%s",
           pawl_matrix_function_info[function].word, takes, pawl_matrix_shape(&args[0]),
           count > 1 ? " and " : "", count > 1 ? pawl_matrix_shape(&args[1]) : "");
  return false;
}

static bool is_matrix(const PawlMatrix* a) {
  return a->cols > 1;
}

bool pawl_matrix_call(PawlDag* dag, PawlMatrixFunction function, int count, const PawlMatrix* args,
                      PawlMatrix* out, char* why) {
  const PawlMatrix *a = &args[0], *b = count > 1 ? &args[1] : a;
  if (any_shapeless(count, args, out)) {
    return true;
  }
  bool vectors = pawl_is_vector(a) && pawl_matrix_same_shape(a, b);
  switch (function) {
    case PAWL_MATRIX_DOT:
      if (!vectors) {
        return refuse_call(function, "two vectors of one length", count, args, why);
      }
      *out = pawl_number(pawl_matrix_dot(dag, a, b));
      return true;
    case PAWL_MATRIX_CROSS:
      if (!vectors) {
        return refuse_call(function, "two vectors of one length", count, args, why);
      }
      *out = cross(dag, a, b);
      return true;
    case PAWL_MATRIX_NORM:
      if (!vectors) {
        return refuse_call(function, "a vector", count, args, why);
      }
      *out = pawl_number(pawl_dag_unary(dag, PAWL_OP_SQRT, pawl_matrix_dot(dag, a, a)));
      return true;
    case PAWL_MATRIX_TRANSPOSE:
      if (!is_matrix(a)) {
        return refuse_call(function, "a matrix", count, args, why);
      }
      *out = transpose(a);
      return true;
    case PAWL_MATRIX_ROTATION:
      if (count == 1 ? !pawl_is_number(a) : a->rows != 3 || a->cols != 1 || !pawl_is_number(b)) {
        return refuse_call(function, "an angle, or an axis [x, y, z] and an angle", count, args,
                           why);
      }
      *out = count == 1 ? turn(dag, a->at[0]) : turn_about(dag, a, b->at[0]);
      return true;
    case PAWL_MATRIX_FUNCTIONS:
      break;
  }
  return false;
}
