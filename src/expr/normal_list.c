// SPDX-License-Identifier: Apache-2.0
// Monomials and angles: short sorted lists, kept once each, and the algebra on them.
//
// A monomial is sorted by its atoms; positive and negative powers of one atom are two factors, so
// that x * 1/x is never lost. An angle is sorted by its monomials and its first coefficient that
// does not belong to the number 1 is positive.
#include <string.h>

#include "base/alloc.h"
#include "expr/normal_poly.h"

enum { FIRST_TABLE = 64 };

// ---- lists ----------------------------------------------------------------------------------
static uint32_t hash_items(int count, const PawlNormalItem* items) {
  uint64_t h = (uint64_t)(uint32_t)count;
  for (int i = 0; i < count; i++) {
    uint64_t bits, pair = (uint64_t)(uint32_t)items[i].id << 32 | (uint32_t)items[i].power;
    memcpy(&bits, &items[i].c, sizeof bits);
    h = (h ^ pair) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 31) ^ bits) * 0xD6E8FEB86659FD93u;
  }
  return (uint32_t)(h >> 32);
}

// Coefficients are compared exactly on purpose; none is 0 or NaN.
static bool same_items(int count, const PawlNormalItem* a, const PawlNormalItem* b) {
  for (int i = 0; i < count; i++) {
    if (a[i].id != b[i].id || a[i].power != b[i].power || a[i].c != b[i].c) {
      return false;
    }
  }
  return true;
}

static void table_insert(int* table, int size, uint32_t hash, int entry) {
  uint32_t mask = (uint32_t)size - 1, at = hash & mask;
  while (table[at] != 0) {
    at = (at + 1) & mask;
  }
  table[at] = entry;
}

static int make_room(PawlLists* lists, int items) {
  if (PAWL_GROW(lists->list, lists->capacity, lists->count + 1) != 0 ||
      PAWL_GROW(lists->item, lists->item_capacity, lists->item_count + items + 1) != 0) {
    return -1;
  }
  if (2 * (lists->count + 1) <= lists->table_size) {
    return 0;
  }
  int size = lists->table_size > 0 ? 2 * lists->table_size : FIRST_TABLE;
  int* table = pawl_alloc((size_t)size, sizeof *table);
  if (!table) {
    return -1;
  }
  for (int i = 0; i < lists->count; i++) {
    table_insert(table, size, lists->list[i].hash, i + 1);
  }
  pawl_free(lists->table);
  lists->table = table;
  lists->table_size = size;
  return 0;
}

int pawl_lists_find(PawlLists* lists, int count, const PawlNormalItem* items) {
  uint32_t hash = hash_items(count, items), mask = (uint32_t)lists->table_size - 1;
  for (uint32_t at = hash & mask; lists->table_size > 0 && lists->table[at] != 0;
       at = (at + 1) & mask) {
    const PawlList* list = &lists->list[lists->table[at] - 1];
    if (list->hash == hash && list->count == count &&
        same_items(count, &lists->item[list->first], items)) {
      return lists->table[at] - 1;
    }
  }
  if (make_room(lists, count) != 0) {
    return -1;
  }
  for (int i = 0; i < count; i++) {
    lists->item[lists->item_count + i] = items[i];
  }
  lists->list[lists->count] = (PawlList){lists->item_count, count, hash};
  lists->item_count += count;
  table_insert(lists->table, lists->table_size, hash, lists->count + 1);
  return lists->count++;
}

void pawl_lists_free(PawlLists* lists) {
  pawl_free(lists->item);
  pawl_free(lists->list);
  pawl_free(lists->table);
  *lists = (PawlLists){0};
}

static int find(PawlNormal* n, PawlLists* lists, int count, const PawlNormalItem* items) {
  int list = pawl_lists_find(lists, count, items);
  n->no_memory = n->no_memory || list < 0;
  return list;
}

static const PawlNormalItem* items_of(const PawlLists* lists, int list) {
  return &lists->item[lists->list[list].first];
}

static int count_of(const PawlLists* lists, int list) {
  return lists->list[list].count;
}

// ---- order ----------------------------------------------------------------------------------
static int compare_int(int a, int b) {
  return (a > b) - (a < b);
}

// Leaves by kind and index, then the rest by age.
static int compare_atoms(const PawlDag* dag, PawlNode a, PawlNode b) {
  const PawlDagNode *x = pawl_dag_node(dag, a), *y = pawl_dag_node(dag, b);
  bool leaf_x = pawl_op_is_leaf(x->op), leaf_y = pawl_op_is_leaf(y->op);
  if (!leaf_x || !leaf_y) {
    return leaf_x == leaf_y ? compare_int(a, b) : leaf_x ? -1 : 1;
  }
  int by_kind = compare_int((int)x->op, (int)y->op);
  int by_index = compare_int(x->index, y->index);
  return by_kind != 0 ? by_kind : by_index != 0 ? by_index : compare_int(a, b);
}

// By atom, then the positive power first.
static int compare_factors(const PawlDag* dag, const PawlNormalItem* x, const PawlNormalItem* y) {
  if (x->id != y->id) {
    return compare_atoms(dag, x->id, y->id);
  }
  return compare_int(x->power < 0, y->power < 0);
}

int pawl_monomial_degree(const PawlNormal* n, int a) {
  const PawlNormalItem* x = items_of(&n->monomials, a);
  int degree = 0;
  for (int i = 0; i < count_of(&n->monomials, a); i++) {
    degree += x[i].power < 0 ? -x[i].power : x[i].power;
  }
  return degree;
}

// By degree, then as in a dictionary: x^2, x y, y^2.
static int compare_monomials(const PawlNormal* n, int a, int b) {
  int order = a == b ? 0 : compare_int(pawl_monomial_degree(n, a), pawl_monomial_degree(n, b));
  const PawlNormalItem *x = items_of(&n->monomials, a), *y = items_of(&n->monomials, b);
  int count_x = count_of(&n->monomials, a), count_y = count_of(&n->monomials, b);
  for (int i = 0; a != b && order == 0 && i < count_x && i < count_y; i++) {
    order = compare_factors(n->dag, &x[i], &y[i]);
    if (order == 0) {
      order = compare_int(y[i].power < 0 ? -y[i].power : y[i].power,
                          x[i].power < 0 ? -x[i].power : x[i].power);
    }
  }
  return order;
}

// By length, then as in a dictionary: a, b, a + b.
static int compare_angles(const PawlNormal* n, int a, int b) {
  const PawlNormalItem *x = items_of(&n->angles, a), *y = items_of(&n->angles, b);
  int count = count_of(&n->angles, a);
  int order = a == b ? 0 : compare_int(count, count_of(&n->angles, b));
  for (int i = 0; a != b && order == 0 && i < count; i++) {
    order = compare_monomials(n, x[i].id, y[i].id);
    order = order != 0 ? order : (x[i].c > y[i].c) - (x[i].c < y[i].c);
  }
  return order;
}

int pawl_term_compare(const PawlNormal* n, const PawlNormalTerm* a, const PawlNormalTerm* b) {
  int order = compare_monomials(n, a->monomial, b->monomial);
  if (order != 0 || a->trig == b->trig) {
    return order;
  }
  if (a->trig == 0 || b->trig == 0) {
    return a->trig == 0 ? -1 : 1;
  }
  order = compare_angles(n, pawl_trig_angle(a->trig), pawl_trig_angle(b->trig));
  return order != 0 ? order : compare_int(pawl_trig_is_sine(a->trig), pawl_trig_is_sine(b->trig));
}

// ---- monomials ------------------------------------------------------------------------------
int pawl_monomial_atom(PawlNormal* n, PawlNode atom, int power) {
  return find(n, &n->monomials, 1, &(PawlNormalItem){atom, power, 1.0});
}

int pawl_monomial_mul(PawlNormal* n, int a, int b) {
  if (a == 0 || b == 0) {
    return a == 0 ? b : a;
  }
  if (pawl_monomial_degree(n, a) + pawl_monomial_degree(n, b) > PAWL_NORMAL_DEGREE) {
    return -1;
  }
  PawlNormalItem product[2 * PAWL_NORMAL_DEGREE];
  const PawlNormalItem *x = items_of(&n->monomials, a), *y = items_of(&n->monomials, b);
  int count_x = count_of(&n->monomials, a), count_y = count_of(&n->monomials, b);
  int count = 0, i = 0, j = 0;
  while (i < count_x || j < count_y) {
    int order = i == count_x ? 1 : j == count_y ? -1 : compare_factors(n->dag, &x[i], &y[j]);
    product[count] = order <= 0 ? x[i++] : y[j++];
    if (order == 0) {
      product[count].power += y[j++].power;
    }
    count++;
  }
  return find(n, &n->monomials, count, product);
}

int pawl_monomial_power(PawlNormal* n, int a, int exponent) {
  long long degree = (long long)pawl_monomial_degree(n, a) * (exponent < 0 ? -1LL : 1LL) * exponent;
  if (degree > PAWL_NORMAL_DEGREE) {
    return -1;
  }
  PawlNormalItem power[PAWL_NORMAL_DEGREE];
  int count = count_of(&n->monomials, a);
  for (int i = 0; i < count; i++) {
    power[i] = items_of(&n->monomials, a)[i];
    power[i].power *= exponent;
  }
  return find(n, &n->monomials, count, power);
}

bool pawl_monomial_is_whole(const PawlNormal* n, int a) {
  for (int i = 0; i < count_of(&n->monomials, a); i++) {
    if (items_of(&n->monomials, a)[i].power < 0) {
      return false;
    }
  }
  return true;
}

int pawl_monomial_without(PawlNormal* n, int a, int part) {
  PawlNormalItem rest[PAWL_NORMAL_DEGREE];
  const PawlNormalItem *x = items_of(&n->monomials, a), *y = items_of(&n->monomials, part);
  int count = 0, j = 0;
  for (int i = 0; i < count_of(&n->monomials, a); i++) {
    rest[count] = x[i];
    if (j < count_of(&n->monomials, part) && compare_factors(n->dag, &x[i], &y[j]) == 0) {
      rest[count].power -= y[j++].power;
    }
    count += rest[count].power != 0;
  }
  return find(n, &n->monomials, count, rest);
}

int pawl_monomial_common(PawlNormal* n, int a, int b) {
  PawlNormalItem common[PAWL_NORMAL_DEGREE];
  const PawlNormalItem *x = items_of(&n->monomials, a), *y = items_of(&n->monomials, b);
  int count = 0, i = 0, j = 0;
  while (i < count_of(&n->monomials, a) && j < count_of(&n->monomials, b)) {
    int order = compare_factors(n->dag, &x[i], &y[j]);
    if (order == 0) {
      bool first = (x[i].power > 0) == (x[i].power < y[j].power);
      common[count++] = first ? x[i] : y[j];
    }
    i += order <= 0;
    j += order >= 0;
  }
  return find(n, &n->monomials, count, common);
}

// ---- angles ---------------------------------------------------------------------------------
// Sorted parts to an angle: the number 1 is monomial 0 and comes first.
static int make_angle(PawlNormal* n, int count, PawlNormalItem* part, PawlAngle* out) {
  bool has_number = count > 0 && part[0].id == 0;
  *out = (PawlAngle){.angle = -1, .value = has_number ? part[0].c : 0.0};
  if (count == (has_number ? 1 : 0)) {
    return 0;
  }
  out->turned = part[has_number ? 1 : 0].c < 0.0;
  for (int i = 0; i < count && out->turned; i++) {
    part[i].c = -part[i].c;
  }
  out->angle = find(n, &n->angles, count, part);
  return out->angle < 0 ? -1 : 0;
}

static int combine(PawlNormal* n, int a, int b, double sign, PawlAngle* out) {
  PawlNormalItem part[2 * PAWL_NORMAL_PARTS];
  const PawlNormalItem *x = items_of(&n->angles, a), *y = items_of(&n->angles, b);
  int count_x = count_of(&n->angles, a), count_y = count_of(&n->angles, b);
  int count = 0, i = 0, j = 0;
  while (i < count_x || j < count_y) {
    int order = i == count_x ? 1 : j == count_y ? -1 : compare_monomials(n, x[i].id, y[j].id);
    double c_x = order <= 0 ? x[i].c : 0.0, c_y = order >= 0 ? sign * y[j].c : 0.0;
    part[count] = order <= 0 ? x[i] : y[j];
    part[count].c = c_x + c_y;
    count += fabs(c_x + c_y) > PAWL_NORMAL_CANCELS * (fabs(c_x) + fabs(c_y));
    i += order <= 0;
    j += order >= 0;
  }
  return count > PAWL_NORMAL_PARTS ? -1 : make_angle(n, count, part, out);
}

int pawl_angle_combine(PawlNormal* n, int a, int b, double sign, PawlAngle* out) {
  uint32_t hash = ((uint32_t)a * 0x9E3779B9u + (uint32_t)b) * 0x85EBCA6Bu + (sign < 0.0);
  PawlTurnMemo* memo = &n->memo[(hash >> 16 ^ hash) & (PAWL_NORMAL_MEMO - 1)];
  if (memo->a_plus_1 != a + 1 || memo->b != b || memo->sign != sign) {
    PawlAngle turn;
    if (combine(n, a, b, sign, &turn) != 0) {
      return -1;
    }
    *memo = (PawlTurnMemo){a + 1, b, sign, turn};
  }
  *out = memo->turn;
  return 0;
}

// Leaves only, and no division but by parameters: taking the sine apart must not hide a fault.
static bool fit_for_angle(const PawlNormal* n, const PawlNormalTerm* term) {
  const PawlNormalItem* x = items_of(&n->monomials, term->monomial);
  for (int i = 0; i < count_of(&n->monomials, term->monomial); i++) {
    PawlOp op = pawl_dag_node(n->dag, x[i].id)->op;
    bool leaf = pawl_op_is_leaf(op) && op != PAWL_OP_CONST;
    if (!leaf || (x[i].power < 0 && op != PAWL_OP_PARAM)) {
      return false;
    }
  }
  return term->trig == 0;
}

int pawl_angle_of(PawlNormal* n, const PawlPoly* p, PawlAngle* out) {
  PawlNormalItem part[PAWL_NORMAL_PARTS];
  if (p->count > PAWL_NORMAL_PARTS) {
    return 0;
  }
  for (int i = 0; i < p->count; i++) {
    if (!fit_for_angle(n, &p->term[i])) {
      return 0;
    }
    int at = i;
    for (; at > 0 && compare_monomials(n, part[at - 1].id, p->term[i].monomial) > 0; at--) {
      part[at] = part[at - 1];
    }
    part[at] = (PawlNormalItem){p->term[i].monomial, 1, p->term[i].c};
  }
  return make_angle(n, p->count, part, out) != 0 ? -1 : 1;
}
