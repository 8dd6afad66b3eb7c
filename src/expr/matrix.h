// SPDX-License-Identifier: Apache-2.0
// What an expression of the model language stands for while it is built: a number, a vector of 2 or
// 3 numbers, or a square matrix of them, each number a node of the graph. The graph itself knows
// numbers alone, and so does all that comes after the builder.
//
//   a + b, a - b, -a, if(c, a, b)   of one shape, number by number
//   k*a, a*k, a/k                   k a number
//   A*v, A*B                        matrices with vectors and matrices
//   a.x, a.y, a.z                   the numbers of a vector
#pragma once

#include "expr/dag.h"

typedef struct PawlMatrix {
  int rows, cols;  // 1 1: a number; n 1: a vector; n n: a matrix; 0 0: of a shape not known yet
  PawlNode at[9];  // row after row; of an unknown shape at[0] stands in
} PawlMatrix;

static inline PawlMatrix pawl_number(PawlNode node) {
  return (PawlMatrix){1, 1, {node}};
}
// Something that is not known while other parts of a text are looked at: whatever is made of it is
// of unknown shape, too.
static inline PawlMatrix pawl_shapeless(PawlNode node) {
  return (PawlMatrix){0, 0, {node}};
}
static inline bool pawl_is_number(const PawlMatrix* a) {
  return a->rows == 1;
}
static inline bool pawl_is_vector(const PawlMatrix* a) {
  return a->rows > 1 && a->cols == 1;
}
static inline bool pawl_is_shapeless(const PawlMatrix* a) {
  return a->rows == 0;
}
static inline int pawl_matrix_count(const PawlMatrix* a) {
  return a->rows > 0 ? a->rows * a->cols : 1;
}
bool pawl_matrix_is_complete(const PawlMatrix* a);  // no node is PAWL_NO_NODE
bool pawl_matrix_same_shape(const PawlMatrix* a, const PawlMatrix* b);
const char* pawl_matrix_shape(const PawlMatrix* a);  // "a number", "a vector of 3", ...
int pawl_matrix_component(const char* word);         // 0 1 2 of x y z; -1 for other words

// Why an operation is not possible goes to `why`, of PAWL_MATRIX_WHY bytes; these return false
// then. With memory short they return true and give nodes PAWL_NO_NODE.
#define PAWL_MATRIX_WHY 160

// An operation on operands of which some are no numbers: ADD, SUB, MUL, DIV, NEG, IF. Others are
// refused by their `word`.
bool pawl_matrix_operate(PawlDag* dag, PawlOp op, const char* word, int count,
                         const PawlMatrix* args, PawlMatrix* out, char* why);
// [a, b, c]: a vector of numbers, or a matrix of rows.
bool pawl_matrix_literal(int count, const PawlMatrix* args, PawlMatrix* out, char* why);
bool pawl_matrix_part(const PawlMatrix* a, int component, PawlMatrix* out, char* why);

// ---- functions ----------------------------------------------------------------------------------
typedef enum PawlMatrixFunction {
  PAWL_MATRIX_DOT,        // dot(a, b)
  PAWL_MATRIX_CROSS,      // cross(a, b); in the plane a number
  PAWL_MATRIX_NORM,       // norm(a), the length
  PAWL_MATRIX_TRANSPOSE,  // transpose(A), of a rotation its inverse
  PAWL_MATRIX_ROTATION,   // rotation(angle), rotation(axis, angle)
  PAWL_MATRIX_FUNCTIONS
} PawlMatrixFunction;
typedef struct PawlMatrixFunctionInfo {
  const char* word;
  int least, most;  // arguments
} PawlMatrixFunctionInfo;
extern const PawlMatrixFunctionInfo pawl_matrix_function_info[PAWL_MATRIX_FUNCTIONS];

int pawl_matrix_function_find(const char* word);  // -1: no such word
bool pawl_matrix_call(PawlDag* dag, PawlMatrixFunction function, int count, const PawlMatrix* args,
                      PawlMatrix* out, char* why);
// The sum of products, dot(a, b), of two vectors of the same length.
PawlNode pawl_matrix_dot(PawlDag* dag, const PawlMatrix* a, const PawlMatrix* b);
