// SPDX-License-Identifier: Apache-2.0
// Forces along an expression of coordinates, by virtual work, and springs.
//
//   a force u along e does the work u de when the coordinates move, so it is u de/dq_i on q_i  (A1)
//   (of a point and a force vector: the dot product of both)
//   a spring along e: V = k/2 (e - l)^2, D = c/2 ((e - l)')^2                                  (A2)
//   between two points: e is their distance                                                    (A3)
#include "base/alloc.h"
#include "model/loader.h"

// ---- forces -------------------------------------------------------------------------------------

typedef struct Along {
  PawlLoader* loader;
  PawlYaml* value;  // the text of the force
  PawlMatrix e, u;  // of one shape
  int coordinates, capacity;
  int* coordinate;  // that e contains
} Along;

static int note_coordinate(void* context, PawlOp leaf, int index) {
  Along* a = context;
  if (leaf == PAWL_OP_QUAT) {
    return note_coordinate(context, PAWL_OP_Q, index / 4) != 0 ||
                   note_coordinate(context, PAWL_OP_Q, index / 4 + 1) != 0 ||
                   note_coordinate(context, PAWL_OP_Q, index / 4 + 2) != 0
               ? -1
               : 0;
  }
  if (leaf != PAWL_OP_Q) {
    return 0;
  }
  if (pawl_grow((void**)&a->coordinate, &a->capacity, a->coordinates + 1, sizeof(int)) != 0) {
    return -1;
  }
  // In another number of the vector, or of the quaternion.
  bool again = pawl_matrix_count(&a->e) > 1 || a->loader->model->rotation_count > 0;
  for (int k = 0; again && k < a->coordinates; k++) {
    if (a->coordinate[k] == index) {
      return 0;
    }
  }
  a->coordinate[a->coordinates++] = index;
  return 0;
}

static int note_coordinates(Along* a) {
  int failed = 0;
  for (int k = 0; !failed && k < pawl_matrix_count(&a->e); k++) {
    failed = pawl_dag_leaves(a->loader->model->dag, a->e.at[k], note_coordinate, a);
  }
  return failed;
}

// u . de/dq_i
static PawlNode force_on(const Along* a, int coordinate) {
  PawlDag* dag = a->loader->model->dag;
  PawlNode force = pawl_dag_const(dag, 0.0);
  for (int k = 0; k < pawl_matrix_count(&a->e); k++) {
    int component = pawl_model_spin(a->loader->model, coordinate);
    PawlNode slope = pawl_dag_vary(dag, a->e.at[k], coordinate, component);
    force = pawl_dag_add(dag, force, pawl_dag_mul(dag, a->u.at[k], slope));  // (A1)
  }
  return force;
}

static bool add_forces(Along* a) {
  PawlDag* dag = a->loader->model->dag;
  for (int k = 0; k < a->coordinates; k++) {
    PawlNode force = force_on(a, a->coordinate[k]);
    if (force == PAWL_NO_NODE) {
      return pawl_loader_no_memory(a->loader);
    }
    double value;
    bool none = pawl_dag_is_const(dag, force, &value) && value == 0.0;
    if (!none && !pawl_add_term(a->loader, PAWL_TERM_FORCE, a->value, force, a->coordinate[k])) {
      return false;
    }
  }
  return true;
}

static bool load_along(PawlLoader* loader, PawlYaml* on, PawlYaml* value, const PawlScope* scope) {
  static const PawlUse on_use = {"what a force acts on", PAWL_MAY_Q | PAWL_MAY_T, NULL};
  static const PawlUse value_use = {"a force",
                                    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_SIGNALS, NULL};
  Along a = {.loader = loader, .value = value};
  unsigned contains;
  if (!pawl_shaped(loader, on, scope, &on_use, &a.e, &contains) ||
      !pawl_shaped(loader, value, scope, &value_use, &a.u, &contains)) {
    return false;
  }
  if (!pawl_matrix_same_shape(&a.e, &a.u) || a.e.cols != 1) {
    pawl_report(&loader->report, value, "on: is %s and value: %s; both are numbers, or vectors",
                pawl_matrix_shape(&a.e), pawl_matrix_shape(&a.u));
    return false;
  }
  bool good = note_coordinates(&a) == 0;
  if (!good) {
    pawl_loader_no_memory(loader);
  } else if (a.coordinates == 0) {
    pawl_report(&loader->report, on, "'%s' contains no coordinate, so that no force can act on it",
                on->kind == PAWL_YAML_SCALAR ? pawl_quote(on->text).s : "on:");
    good = false;
  }
  good = good && add_forces(&a);
  pawl_free(a.coordinate);
  return good;
}

void pawl_load_force_along(PawlLoader* loader, PawlYaml* body) {
  static const char* const keys[] = {"on", "value", NULL};
  const PawlAstKey* key = pawl_key(loader, body->key);
  PawlYaml *on = pawl_yaml_get(body, "on"), *value = pawl_yaml_get(body, "value");
  if (!key || !pawl_yaml_check_keys(&loader->report, body, "a force", keys)) {
    return;
  }
  if (!on || !value) {
    pawl_report(&loader->report, body, "a force along an expression needs on: and value:");
    return;
  }
  PawlIndexer at;
  bool good = true;
  for (bool more = pawl_indexer_begin(&at, loader, body->key, key, &PAWL_SCOPE_EMPTY); more && good;
       more = pawl_indexer_next(&at)) {
    good = load_along(loader, on, value, &at.scope);
  }
}

// ---- springs ------------------------------------------------------------------------------------

static const PawlUse place_use = {"a place", PAWL_MAY_Q | PAWL_MAY_T, NULL};

typedef struct Spring {
  PawlLoader* loader;
  PawlYaml* body;
  PawlYaml *along, *from, *to, *stiffness, *damping, *length;
  const PawlScope* scope;
  bool warned;  // of a number that is negative
} Spring;

// [x], [x, y], [x, y, z], or a vector.
static bool read_point(const Spring* s, PawlYaml* point, PawlMatrix* out) {
  *out = pawl_number(PAWL_NO_NODE);
  return point->kind == PAWL_YAML_LIST && point->count == 1
             ? pawl_expression(s->loader, point->first, s->scope, &place_use, &out->at[0])
             : pawl_vector(s->loader, point, s->scope, &place_use, out);
}

// The sum of the squares of the differences of two points.
static bool square_distance(const Spring* s, PawlNode* out) {
  PawlDag* dag = s->loader->model->dag;
  PawlMatrix a, b;
  if (!read_point(s, s->from, &a) || !read_point(s, s->to, &b)) {
    return false;
  }
  if (a.rows != b.rows) {
    pawl_report(&s->loader->report, s->to, "from: is %s and to: %s", pawl_matrix_shape(&a),
                pawl_matrix_shape(&b));
    return false;
  }
  *out = pawl_dag_const(dag, 0.0);
  for (int k = 0; k < a.rows; k++) {
    PawlNode difference = pawl_dag_sub(dag, b.at[k], a.at[k]);
    *out = pawl_dag_add(dag, *out, pawl_dag_powi(dag, difference, 2));
  }
  return *out != PAWL_NO_NODE || pawl_loader_no_memory(s->loader);
}

// e - l, and its square, which has no root between points without a free length.
static bool stretch(const Spring* s, PawlNode* e, PawlNode* square) {
  static const PawlUse length_use = {"a free length", PAWL_MAY_T, NULL};
  PawlDag* dag = s->loader->model->dag;
  PawlNode length = pawl_dag_const(dag, 0.0);
  if (s->length && !pawl_expression(s->loader, s->length, s->scope, &length_use, &length)) {
    return false;
  }
  if (s->along && !pawl_expression(s->loader, s->along, s->scope, &place_use, e)) {
    return false;
  }
  if (!s->along && !square_distance(s, square)) {
    return false;
  }
  PawlNode distance = s->along ? *e : pawl_dag_unary(dag, PAWL_OP_SQRT, *square);  // (A3)
  *e = pawl_dag_sub(dag, distance, length);
  *square = s->along || s->length ? pawl_dag_powi(dag, *e, 2) : *square;
  return (*e != PAWL_NO_NODE && *square != PAWL_NO_NODE) || pawl_loader_no_memory(s->loader);
}

// A spring that pushes away from its length and a damper that drives are seldom meant.
static bool warn_of_negative(Spring* s, PawlYaml* factor) {
  PawlLoader* loader = s->loader;
  double value = 0.0;
  bool good = s->warned || pawl_judge(loader, factor, s->scope, &value);
  if (value < 0.0) {
    s->warned = true;
    pawl_remark(&loader->remarks.warnings, "%s:%d: the %s of '%s' is negative (%g)",
                loader->report.file, factor->line, factor->key->text,
                pawl_quote(s->body->key->text).s, value);
  }
  return good;
}

// factor/2 square, as a term of this kind.                                                    (A2)
static bool add_energy(Spring* s, PawlTermKind kind, PawlYaml* factor, PawlNode square) {
  static const PawlUse use = {"a stiffness or damping", 0,
                              "write one that varies into potential: or forces:"};
  PawlDag* dag = s->loader->model->dag;
  PawlNode k;
  if (!pawl_expression(s->loader, factor, s->scope, &use, &k) || !warn_of_negative(s, factor)) {
    return false;
  }
  PawlNode half = pawl_dag_div(dag, k, pawl_dag_const(dag, 2.0));
  PawlNode energy = pawl_dag_mul(dag, half, square);
  if (energy == PAWL_NO_NODE) {
    return pawl_loader_no_memory(s->loader);
  }
  if (!pawl_add_term(s->loader, kind, s->body->key, energy, -1)) {
    return false;
  }
  s->loader->model->terms[s->loader->model->term_count - 1].of_points = !s->along;
  return true;
}

static bool load_spring(Spring* s) {
  PawlDag* dag = s->loader->model->dag;
  PawlNode e, square;
  if (!stretch(s, &e, &square)) {
    return false;
  }
  bool good = !s->stiffness || add_energy(s, PAWL_TERM_POTENTIAL, s->stiffness, square);
  if (good && s->damping) {
    PawlNode rate = pawl_dag_powi(dag, pawl_dag_total(dag, e), 2);
    good = rate == PAWL_NO_NODE ? pawl_loader_no_memory(s->loader)
                                : add_energy(s, PAWL_TERM_DISSIPATION, s->damping, rate);
  }
  return good;
}

static bool may_be_points(const PawlYaml* a, const PawlYaml* b) {
  bool lists = a->kind == PAWL_YAML_LIST && b->kind == PAWL_YAML_LIST;
  return a->kind != PAWL_YAML_MAP && b->kind != PAWL_YAML_MAP &&
         (!lists || (a->count >= 1 && a->count <= 3 && a->count == b->count));
}

static bool check_spring(const Spring* s) {
  static const char* const keys[] = {"from", "to", "along", "stiffness", "damping", "length", NULL};
  PawlReport* report = &s->loader->report;
  if (!pawl_yaml_check_keys(report, s->body, "a spring", keys)) {
    return false;
  }
  bool points = s->from && s->to;
  if ((s->along != NULL) == points || (s->along && (s->from || s->to))) {
    pawl_report(report, s->body,
                "a spring needs from: and to: (points), or along: (an expression)");
    return false;
  }
  if (points && !may_be_points(s->from, s->to)) {
    pawl_report(report, s->to,
                "expected two points, from: [x, y] and to: [x, y], or [x, y, z] both");
    return false;
  }
  if (!s->stiffness && !s->damping) {
    pawl_report(report, s->body, "a spring needs stiffness: or damping:");
    return false;
  }
  return true;
}

static void load_springs_of(PawlLoader* loader, PawlYaml* body) {
  const PawlAstKey* key = pawl_key(loader, body->key);
  if (!key) {
    return;
  }
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "expected a spring, {from: , to: , stiffness: }");
    return;
  }
  Spring s = {.loader = loader,
              .body = body,
              .along = pawl_yaml_get(body, "along"),
              .from = pawl_yaml_get(body, "from"),
              .to = pawl_yaml_get(body, "to"),
              .stiffness = pawl_yaml_get(body, "stiffness"),
              .damping = pawl_yaml_get(body, "damping"),
              .length = pawl_yaml_get(body, "length")};
  PawlIndexer at;
  bool good = check_spring(&s);
  for (bool more = good && pawl_indexer_begin(&at, loader, body->key, key, &PAWL_SCOPE_EMPTY);
       more && good; more = pawl_indexer_next(&at)) {
    s.scope = &at.scope;
    good = load_spring(&s);
  }
}

void pawl_load_springs(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "springs")) {
    for (PawlYaml* child = section->first; child; child = child->next) {
      load_springs_of(loader, child);
    }
  }
}
