// SPDX-License-Identifier: Apache-2.0
// Names and expressions as C.
#include "system/source_body.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"

// ---- names --------------------------------------------------------------------------------------
// Words of C and C++, which nothing may be called.
static const char* const words[] = {
    "auto",     "break",  "case",     "char",     "const",     "continue", "default",  "do",
    "double",   "else",   "enum",     "extern",   "float",     "for",      "goto",     "if",
    "inline",   "int",    "long",     "register", "restrict",  "return",   "short",    "signed",
    "sizeof",   "static", "struct",   "switch",   "typedef",   "union",    "unsigned", "void",
    "volatile", "while",  "asm",      "bool",     "true",      "false",    "class",    "new",
    "delete",   "this",   "template", "typename", "namespace", "private",  "public",   "virtual",
    "operator", "try",    "catch",    "throw",    "using",     "friend",   "mutable",  "explicit",
    "linux",    "unix",   "I",        "NAN",      "INFINITY",  "M_PI",
};
// Words of C's mathematics and of the functions that are printed, which would hide them.
static const char* const hidden[] = {
    "j0",   "j1",     "jn",     "y0",     "y1",        "yn",     "gamma", "lgamma", "tgamma",
    "pow",  "fmod",   "ceil",   "round",  "trunc",     "log2",   "log10", "exp2",   "cbrt",
    "fabs", "fmin",   "fmax",   "fma",    "remainder", "rint",   "modf",  "frexp",  "ldexp",
    "logb", "ilogb",  "expm1",  "log1p",  "asinh",     "acosh",  "atanh", "erfc",   "fdim",
    "at",   "p",      "M",      "f",      "g",         "G",      "g_t",   "bias",   "energy",
    "out",  "memset", "memcpy", "square", "cube",      "q_rate",
};

static bool is_among(const char* word, size_t count, const char* const* list) {
  for (size_t k = 0; k < count; k++) {
    if (strcmp(word, list[k]) == 0) {
      return true;
    }
  }
  return false;
}

static bool hides(const char* word) {
  for (PawlOp op = 0; op < PAWL_OP_COUNT; op++) {
    if (strcmp(word, pawl_op_text(op)) == 0) {
      return true;
    }
  }
  // What has no name of its own is w1, w2, ...
  return is_among(word, sizeof hidden / sizeof *hidden, hidden) ||
         (word[0] == 'w' && word[1] && strspn(word + 1, "0123456789") == strlen(word + 1));
}

static bool is_taken(const PawlCNames* names, const char* word) {
  return is_among(word, sizeof words / sizeof *words, words) || (!names->members && hides(word)) ||
         is_among(word, (size_t)names->used_count, names->used);
}

// A letter that C does not take as the number it has: φ is u3c6. How many bytes it has.
static int add_letter(PawlText* out, const char* letter) {
  unsigned lead = (unsigned char)letter[0], code = lead < 0xE0   ? lead & 0x1F
                                                   : lead < 0xF0 ? lead & 0x0F
                                                                 : lead & 0x07;
  int count = 1;
  for (; ((unsigned char)letter[count] & 0xC0) == 0x80; count++) {
    code = code << 6 | ((unsigned char)letter[count] & 0x3F);
  }
  pawl_text_printf(out, "u%x", code);
  return count;
}

// u[3] is u_3, R.omega.x R_omega_x.
static void add_identifier(PawlText* out, const char* name) {
  bool digit = isdigit((unsigned char)name[0]), gap = false;
  pawl_text_add(out, digit ? "x" : "");
  for (const char* c = name; *c;) {
    bool plain = (isalnum((unsigned char)*c) && (unsigned char)*c < 128) || *c == '_';
    int count = 1;
    pawl_text_add(out, gap && (plain || (unsigned char)*c > 127) ? "_" : "");
    if (plain) {
      pawl_text_add_bytes(out, c, 1);
    } else if ((unsigned char)*c > 127) {
      count = add_letter(out, c);
    }
    gap = !plain && (unsigned char)*c < 128;
    c += count;
  }
}

// A name that nothing else has; NULL when memory is short.
static const char* new_name(PawlCNames* names, const char* name, const char* suffix) {
  PawlText text = {0};
  add_identifier(&text, name);
  pawl_text_add(&text, suffix);
  while (!text.failed && is_taken(names, text.s)) {
    pawl_text_add(&text, "_");
  }
  const char* kept = text.failed ? NULL : pawl_arena_copy(&names->arena, text.s, text.length);
  pawl_text_free(&text);
  if (!kept || PAWL_GROW(names->used, names->used_capacity, names->used_count + 1) != 0) {
    return NULL;
  }
  names->used[names->used_count++] = kept;
  return kept;
}

// The name of the model for functions, types (each word with a capital) and constants.
static const char* model_name(PawlCNames* names, const char* name, char style) {
  PawlText text = {0};
  bool begins = true;
  for (const char* c = name; *c; c++) {
    bool plain = isalnum((unsigned char)*c) && (unsigned char)*c < 128;
    if (plain) {
      if (text.length == 0 && isdigit((unsigned char)*c)) {
        pawl_text_add(&text, style == 'f' ? "model_" : style == 't' ? "Model" : "MODEL_");
      }
      char letter = style == 'f'             ? (char)tolower((unsigned char)*c)
                    : style == 'u' || begins ? (char)toupper((unsigned char)*c)
                                             : *c;
      pawl_text_add_bytes(&text, &letter, 1);
    } else if (style != 't' && text.length > 0) {
      pawl_text_add(&text, "_");
    }
    begins = !plain;
  }
  if (text.length == 0) {
    pawl_text_add(&text, style == 'f' ? "model" : style == 't' ? "Model" : "MODEL");
  }
  const char* kept = text.failed ? NULL : pawl_arena_copy(&names->arena, text.s, text.length);
  pawl_text_free(&text);
  return kept;
}

PawlStatus pawl_c_names_make(PawlCNames* names, const PawlModel* model) {
  int entries = model->coordinate_count + model->dynamic_count;
  *names = (PawlCNames){.model = model};
  PawlArena* arena = &names->arena;
  names->prefix = model_name(names, model->name, 'f');
  names->type = model_name(names, model->name, 't');
  names->upper = model_name(names, model->name, 'u');
  names->parameters = PAWL_NEW(arena, const char*, model->parameter_count);
  names->values = PAWL_NEW(arena, const char*, entries);
  names->rates = PAWL_NEW(arena, const char*, entries);
  names->accelerations = PAWL_NEW(arena, const char*, entries);
  names->quaternions = PAWL_NEW(arena, const char*, 4 * model->rotation_count);
  names->inputs = PAWL_NEW(arena, const char*, model->input_count);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  for (int k = 0; k < entries; k++) {
    const char* name = model->coordinates[k].name;
    bool is_state = k >= model->coordinate_count, spins = pawl_model_spin(model, k) >= 0;
    names->values[k] = is_state || spins ? "" : new_name(names, name, "");
    names->rates[k] = new_name(names, name, is_state || spins ? "" : "_d");
    names->accelerations[k] = new_name(names, name, is_state || spins ? "_d" : "_dd");
  }
  for (int k = 0; k < 4 * model->rotation_count; k++) {
    names->quaternions[k] = new_name(names, model->rotations[k / 4].quaternion_names[k % 4], "");
  }
  for (int k = 0; k < model->input_count; k++) {
    names->inputs[k] = new_name(names, model->inputs[k].name, "");
  }
  names->used_count = 0;
  names->members = true;
  for (int k = 0; k < model->parameter_count; k++) {
    names->parameters[k] = new_name(names, model->parameters[k].name, "");
  }
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

void pawl_c_names_free(PawlCNames* names) {
  pawl_free(names->used);
  pawl_arena_free(&names->arena);
}

// ---- numbers and leaves -------------------------------------------------------------------------
void pawl_c_number(PawlText* out, double value) {
  size_t before = out->length;
  if (isnan(value)) {
    pawl_text_add(out, "NAN");
    return;
  }
  if (isinf(value)) {
    pawl_text_add(out, value < 0.0 ? "-INFINITY" : "INFINITY");
    return;
  }
  pawl_text_number(out, value);
  if (!out->failed && strcspn(out->s + before, ".e") == strlen(out->s + before)) {
    pawl_text_add(out, ".0");
  }
}

// How tightly a text binds, loosest first.
typedef enum Tightness { CHOICE, SUM, PRODUCT, SIGN, ATOM } Tightness;

typedef struct PawlCTerm {
  char* text;  // the name of the node, or what is put in its place
  PawlCScope scope;
  Tightness tight;
  int uses;
} PawlCTerm;

typedef struct Place {
  const char* name;   // NULL: it is used where it stands
  const char* array;  // of the point
  int index;
} Place;

static Place place_of(const PawlCNames* n, const PawlDagNode* leaf) {
  int k = leaf->index, turning = n->model->turning;
  switch ((PawlLeaf)leaf->op) {
    case PAWL_LEAF_Q:
      return (Place){n->values[k], "q", k};
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return (Place){n->rates[k], "v", k};
    case PAWL_LEAF_A:
      return (Place){n->accelerations[k], "a", k};
    case PAWL_LEAF_INPUT:
      return (Place){n->inputs[k], "u", k};
    case PAWL_LEAF_QUAT:
      return (Place){n->quaternions[4 * ((k / 4 - turning) / 3) + k % 4], "q",
                     pawl_quat_place(turning, k)};
    case PAWL_LEAF_LAMBDA:
      return (Place){NULL, "lambda", k};
    case PAWL_LEAF_TURN:
    case PAWL_LEAF_TIME:
    case PAWL_LEAF_PARAM:
    case PAWL_LEAF_CONST:
      break;
  }
  return (Place){NULL, NULL, 0};
}

static void spaces(PawlText* out, int count) {
  pawl_text_printf(out, "%*s", count, "");
}

static Tightness put_leaf(PawlCBody* b, const PawlDagNode* leaf, PawlText* text, int indent) {
  Place place = place_of(b->names, leaf);
  if (leaf->op == PAWL_OP_CONST) {
    pawl_c_number(text, leaf->value);
    return leaf->value < 0.0 ? SIGN : ATOM;
  }
  if (leaf->op == PAWL_OP_TIME) {
    pawl_text_add(text, "at->t");
  } else if (leaf->op == PAWL_OP_PARAM) {
    pawl_text_printf(text, "p->%s", b->names->parameters[leaf->index]);
  } else if (place.array && place.name) {
    spaces(b->out, indent);
    pawl_text_printf(b->out, "const double %s = at->%s[%d];\n", place.name, place.array,
                     place.index);
    pawl_text_add(text, place.name);
  } else {
    pawl_text_printf(text, "at->%s[%d]", place.array ? place.array : "modes", place.index);
  }
  return ATOM;
}

// ---- operations ---------------------------------------------------------------------------------
// The value of each function as it stands in function.def.
static const char* const bodies[PAWL_OP_COUNT] = {
#define PAWL_FUNCTION(name, word, operands, value, ...) [PAWL_OP_##name] = #value,
#include "expr/op.def"
};

// What pawl computes by itself (expr/elementary.h) and C has under the same word.
static bool is_elementary(PawlOp op) {
  return op == PAWL_OP_SIN || op == PAWL_OP_COS || op == PAWL_OP_EXP;
}

// "sin" for one that C has, "pawl_min" for one that needs a helper; `helper` says which.
static const char* call_of(PawlOp op, bool* helper, char room[40]) {
  const char* body = bodies[op] + (is_elementary(op) ? strlen("pawl_") : 0);
  size_t word = 0;
  while (isalnum((unsigned char)body[word])) {
    word++;
  }
  bool plain = word > 0 && word < 30 &&
               (strcmp(body + word, "(A)") == 0 || strcmp(body + word, "(A, B)") == 0);
  *helper = !plain;
  if (plain) {
    snprintf(room, 40, "%.*s", (int)word, body);
  } else {
    snprintf(room, 40, "pawl_%s", pawl_op_text(op));
  }
  return room;
}

static void put_operand(const PawlCBody* b, PawlText* text, PawlNode node, Tightness least) {
  const PawlCTerm* term = &b->terms[node];
  bool brackets = term->tight < least;
  pawl_text_add(text, brackets ? "(" : "");
  pawl_text_add(text, term->text ? term->text : "");
  pawl_text_add(text, brackets ? ")" : "");
}

static Tightness put_binary(const PawlCBody* b, PawlText* text, const PawlDagNode* n,
                            const char* sign, Tightness own) {
  put_operand(b, text, n->arg[0], own);
  pawl_text_add(text, sign);
  put_operand(b, text, n->arg[1], own + 1);  // in the order of the graph
  return own;
}

static Tightness put_call(PawlCBody* b, PawlText* text, const PawlDagNode* n, const char* name) {
  pawl_text_printf(text, "%s(", name);
  for (int k = 0; k < pawl_op_operands(n->op); k++) {
    pawl_text_add(text, k > 0 ? ", " : "");
    put_operand(b, text, n->arg[k], CHOICE);
  }
  pawl_text_add(text, ")");
  return ATOM;
}

static Tightness put_power(PawlCBody* b, PawlText* text, const PawlDagNode* n) {
  char call[40];
  if (n->index == 2 || n->index == 3) {
    b->functions[n->index == 2 ? PAWL_OP_MUL : PAWL_OP_POWI] = true;  // square, cube
    return put_call(b, text, n, n->index == 2 ? "square" : "cube");
  }
  if (n->index == -1) {
    pawl_text_add(text, "1.0/");
    put_operand(b, text, n->arg[0], SIGN);
    return PRODUCT;
  }
  snprintf(call, sizeof call, ", %d.0)", n->index);
  pawl_text_add(text, "pow(");
  put_operand(b, text, n->arg[0], CHOICE);
  pawl_text_add(text, call);
  return ATOM;
}

static Tightness put_table(PawlCBody* b, PawlText* text, const PawlDagNode* n) {
  int table = n->index / PAWL_TABLE_VIEWS;
  b->tables[table] = true;
  pawl_text_printf(text, "%s_table_%d(", b->names->prefix, table);
  put_operand(b, text, n->arg[0], CHOICE);
  pawl_text_printf(text, ", %d)", n->index % PAWL_TABLE_VIEWS);
  return ATOM;
}

static Tightness put_comparison(const PawlCBody* b, PawlText* text, const PawlDagNode* n,
                                const char* sign) {
  put_operand(b, text, n->arg[0], SUM);
  pawl_text_add(text, sign);
  put_operand(b, text, n->arg[1], SUM);
  return CHOICE;
}

static Tightness put_choice(const PawlCBody* b, PawlText* text, const PawlDagNode* n) {
  put_operand(b, text, n->arg[0], ATOM);
  pawl_text_add(text, " != 0.0 ? ");
  put_operand(b, text, n->arg[1], SUM);
  pawl_text_add(text, " : ");
  put_operand(b, text, n->arg[2], SUM);
  return CHOICE;
}

static Tightness put_operation(PawlCBody* b, const PawlDagNode* n, PawlText* text) {
  char room[40];
  bool helper;
  switch (n->op) {
    case PAWL_OP_NEG:
      pawl_text_add(text, "-");
      put_operand(b, text, n->arg[0], ATOM);
      return SIGN;
    case PAWL_OP_ADD:
      return put_binary(b, text, n, " + ", SUM);
    case PAWL_OP_SUB:
      return put_binary(b, text, n, " - ", SUM);
    case PAWL_OP_MUL:
      return put_binary(b, text, n, "*", PRODUCT);
    case PAWL_OP_DIV:
      return put_binary(b, text, n, "/", PRODUCT);
    case PAWL_OP_POW:
      return put_call(b, text, n, "pow");
    case PAWL_OP_POWI:
      return put_power(b, text, n);
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      return put_table(b, text, n);
    case PAWL_OP_LT:
      return put_comparison(b, text, n, " < ");
    case PAWL_OP_LE:
      return put_comparison(b, text, n, " <= ");
    case PAWL_OP_EQ:
      return put_comparison(b, text, n, " == ");
    case PAWL_OP_NE:
      return put_comparison(b, text, n, " != ");
    case PAWL_OP_AND:
      return put_comparison(b, text, n, " != 0.0 && 0.0 != ");
    case PAWL_OP_OR:
      return put_comparison(b, text, n, " != 0.0 || 0.0 != ");
    case PAWL_OP_NOT:
      put_operand(b, text, n->arg[0], SUM);
      pawl_text_add(text, " == 0.0");
      return CHOICE;
    case PAWL_OP_IF:
      return put_choice(b, text, n);
#define PAWL_FUNCTION(name, ...)                         \
  case PAWL_OP_##name:                                   \
    put_call(b, text, n, call_of(n->op, &helper, room)); \
    b->functions[n->op] |= helper;                       \
    return ATOM;
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return ATOM;
}

void pawl_c_helpers(PawlText* out, const bool* functions) {
  if (functions[PAWL_OP_MUL]) {
    pawl_text_add(out, "static double square(double x) {\n  return x*x;\n}\n\n");
  }
  if (functions[PAWL_OP_POWI]) {
    pawl_text_add(out, "static double cube(double x) {\n  return x*x*x;\n}\n\n");
  }
  for (PawlOp op = 0; op < PAWL_OP_COUNT; op++) {
    char room[40];
    bool helper = false;
    if (!bodies[op] || !functions[op]) {
      continue;
    }
    pawl_text_printf(out, "static double %s(double A%s) {\n", call_of(op, &helper, room),
                     pawl_op_operands(op) == 2 ? ", double B" : "");
    if (op == PAWL_OP_WRAP) {  // as pawl_wrap
      pawl_text_add(out,
                    "  double rest = A - B*floor(A/B);\n  rest = rest < 0.0 ? rest + B : rest;\n"
                    "  return !(B > 0.0) ? NAN : rest >= B ? 0.0 : rest;\n}\n\n");
    } else {
      pawl_text_printf(out, "  return %s;\n}\n\n", bodies[op]);
    }
  }
}

// ---- bodies -------------------------------------------------------------------------------------
PawlStatus pawl_c_body_begin(PawlCBody* b) {
  b->node_count = pawl_dag_count(b->dag);
  b->temporary_count = 0;
  b->failed = false;
  b->terms = pawl_alloc((size_t)b->node_count, sizeof *b->terms);
  return b->terms ? PAWL_OK : PAWL_ERROR_MEMORY;
}

static void forget(PawlCBody* b, PawlCScope scope) {
  for (int k = 0; b->terms && k < b->node_count; k++) {
    if (b->terms[k].scope >= scope) {
      pawl_free(b->terms[k].text);
      b->terms[k] = (PawlCTerm){0};
    }
  }
}

void pawl_c_body_leave(PawlCBody* b) {
  forget(b, PAWL_C_INNER);
}

void pawl_c_body_end(PawlCBody* b) {
  forget(b, PAWL_C_OUTER);
  pawl_free(b->terms);
}

static void count_uses(PawlCBody* b, int reach, const PawlNode* nodes, int count,
                       const PawlNode* roots) {
  for (int k = 0; k < reach; k++) {
    b->terms[nodes[k]].uses = 0;
  }
  for (int k = 0; k < reach; k++) {
    const PawlDagNode* n = pawl_dag_node(b->dag, nodes[k]);
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      b->terms[n->arg[a]].uses++;
    }
  }
  for (int k = 0; k < count; k++) {
    b->terms[roots[k]].uses++;
  }
}

static void declare_node(PawlCBody* b, PawlNode node, PawlCScope scope, int indent) {
  enum { LONGEST = 84 };
  const PawlDagNode* n = pawl_dag_node(b->dag, node);
  bool leaf = pawl_op_is_leaf(n->op);
  PawlText text = {0};
  Tightness tight = leaf ? put_leaf(b, n, &text, indent) : put_operation(b, n, &text);
  if (!leaf && (b->terms[node].uses > 1 || text.length > LONGEST)) {
    spaces(b->out, indent);
    pawl_text_printf(b->out, "const double w%d = %s;\n", ++b->temporary_count,
                     text.s ? text.s : "");
    pawl_text_free(&text);
    pawl_text_printf(&text, "w%d", b->temporary_count);
    tight = ATOM;
  }
  b->failed = b->failed || text.failed;
  b->terms[node] = (PawlCTerm){text.s, scope, tight, b->terms[node].uses};
}

void pawl_c_body_declare(PawlCBody* b, int count, const PawlNode* roots, PawlCScope scope,
                         int indent) {
  const PawlNode* nodes;
  int reach = pawl_dag_reach(b->dag, count, roots, &nodes);
  b->failed = b->failed || reach < 0;
  if (b->failed) {
    return;
  }
  count_uses(b, reach, nodes, count, roots);
  for (int k = 0; k < reach && !b->failed; k++) {
    if (b->terms[nodes[k]].scope == PAWL_C_UNKNOWN) {
      declare_node(b, nodes[k], scope, indent);
    }
  }
}

const char* pawl_c_body_text(const PawlCBody* b, PawlNode node) {
  return b->terms[node].text ? b->terms[node].text : "";
}
