// SPDX-License-Identifier: Apache-2.0
// From a polynomial back to a node, written compactly: terms that share a factor (a sine or cosine,
// a power of an atom, a number) are taken together with the factor outside, the most shared factor
// first, and what is left inside is treated the same way; groups with the same inside are joined.
// Two ways are tried, sines and cosines before all other factors and no preference; the cheaper one
// stays.
//
// Coefficients are never divided by each other, only +-c by c, so that reading the result again
// gives the very same polynomial.
//
// The recursion takes factors away: call the degree of a term that of its monomial, plus 1 for a
// sine and 1 for a number; then each level deeper has a smaller largest degree.
#include "base/alloc.h"
#include "expr/normal_poly.h"

typedef struct Part {  // of a sum: outer * inner, or outer alone
  PawlNormalTerm outer;
  bool has_inner;
  PawlNode inner;
} Part;

typedef struct Builder {
  PawlNormal* n;
  bool trig_first;
} Builder;

// ---- products -------------------------------------------------------------------------------
static PawlNode times(PawlDag* dag, PawlNode product, PawlNode factor, bool first) {
  return first ? factor : pawl_dag_mul(dag, product, factor);
}

// Multiplies `start` by the powers of one sign; `*count` goes up by one for each, and while it is 0
// `start` is not there yet.
static PawlNode powers(PawlNormal* n, PawlNode start, int monomial, int sign, int* count) {
  PawlList list = n->monomials.list[monomial];
  PawlNode product = start;
  for (int i = 0; i < list.count; i++) {
    PawlNormalItem item = n->monomials.item[list.first + i];
    if (item.power * sign > 0) {
      PawlNode power = pawl_dag_powi(n->dag, item.id, item.power * sign);
      product = times(n->dag, product, power, (*count)++ == 0);
    }
  }
  return product;
}

static PawlNode over_powers(PawlNormal* n, PawlNode product, int monomial) {
  int below = 0;
  PawlNode divisor = powers(n, PAWL_NO_NODE, monomial, -1, &below);
  return below > 0 ? pawl_dag_div(n->dag, product, divisor) : product;
}

static PawlNode angle_node(PawlNormal* n, int angle) {
  PawlList list = n->angles.list[angle];
  PawlNode sum = pawl_dag_const(n->dag, 0.0);
  for (int i = 0; i < list.count; i++) {
    PawlNormalItem item = n->angles.item[list.first + i];
    int above = fabs(item.c) != 1.0;
    PawlNode part = powers(n, pawl_dag_const(n->dag, fabs(item.c)), item.id, 1, &above);
    part = over_powers(n, part, item.id);
    sum = item.c < 0.0 ? pawl_dag_sub(n->dag, sum, part) : pawl_dag_add(n->dag, sum, part);
  }
  return sum;
}

// c * monomial * trig, and * inner where there is one. The number stands in front, so that the text
// needs no parentheses.
static PawlNode product_node(PawlNormal* n, PawlNormalTerm term, bool has_inner, PawlNode inner) {
  PawlDag* dag = n->dag;
  bool unit = fabs(term.c) == 1.0;
  int above = !unit;
  PawlNode product = powers(n, pawl_dag_const(dag, term.c), term.monomial, 1, &above);
  if (term.trig != 0) {
    PawlOp op = pawl_trig_is_sine(term.trig) ? PAWL_OP_SIN : PAWL_OP_COS;
    PawlNode trig = pawl_dag_unary(dag, op, angle_node(n, pawl_trig_angle(term.trig)));
    product = times(dag, product, trig, above++ == 0);
  }
  if (has_inner) {
    product = times(dag, product, inner, above++ == 0);
  }
  if (above == 0) {
    product = pawl_dag_const(dag, term.c);
  } else if (unit && term.c < 0.0) {
    product = pawl_dag_neg(dag, product);
  }
  return over_powers(n, product, term.monomial);
}

// ---- sums -----------------------------------------------------------------------------------
static PawlNode sum_node(Builder* b, int count, PawlNormalTerm* terms);

static void turn_signs(int count, PawlNormalTerm* terms) {
  for (int i = 0; i < count; i++) {
    terms[i].c = -terms[i].c;
  }
}

// Takes out of the terms what all of them share.
static int make_group(Builder* b, int count, PawlNormalTerm* terms, Part* part) {
  part->has_inner = true;
  if (pawl_factor_common(b->n, count, terms, &part->outer) != 0 ||
      pawl_factor_divide(b->n, count, terms, &part->outer) != 0) {
    return -1;
  }
  part->inner = sum_node(b, count, terms);
  return part->inner < 0 ? -1 : 0;
}

// Cuts a sum into groups and single terms; the number of parts, or -1.
static int find_parts(Builder* b, int count, PawlNormalTerm* terms, PawlNormalTerm* picked,
                      Part* parts) {
  int part_count = 0, found;
  PawlFactor factor;
  while ((found = pawl_factor_choose(b->n, count, terms, b->trig_first, &factor)) > 0) {
    int moved = pawl_factor_pick(b->n, &factor, count, terms, picked);
    int place = picked[0].place;
    if (make_group(b, moved, picked, &parts[part_count]) != 0) {
      return -1;
    }
    parts[part_count++].outer.place = place;
    count -= moved;
  }
  for (int i = 0; i < count; i++) {
    parts[part_count++] = (Part){.outer = terms[i]};
  }
  return found < 0 ? -1 : part_count;
}

// a P + b P = (a + b) P, for the parts from `at` on with the inside of part `at`; the others close
// up. `outer` has room for all parts. The number of parts left, or -1.
static int join(Builder* b, int at, int count, Part* parts, PawlNormalTerm* outer) {
  int joined = 0, kept = at + 1;
  PawlNode inner = parts[at].inner;
  for (int i = at; i < count; i++) {
    if (parts[i].has_inner && parts[i].inner == inner) {
      outer[joined++] = parts[i].outer;
    } else {
      parts[kept++] = parts[i];
    }
  }
  if (joined == 1) {
    return count;
  }
  PawlNormalTerm one = {.c = 1.0, .place = parts[at].outer.place};
  if (outer[0].c < 0.0) {
    turn_signs(joined, outer);
    one.c = -1.0;
  }
  PawlNode sum = sum_node(b, joined, outer);
  parts[at] = (Part){one, true, pawl_dag_mul(b->n->dag, sum, inner)};
  return parts[at].inner < 0 ? -1 : kept;
}

static void sort_parts(int count, Part* parts) {
  for (int i = 1; i < count; i++) {
    Part moving = parts[i];
    int at = i;
    for (; at > 0 && parts[at - 1].outer.place > moving.outer.place; at--) {
      parts[at] = parts[at - 1];
    }
    parts[at] = moving;
  }
}

// The first part that is not subtracted begins, so that no sign is left over.
static PawlNode add_parts(PawlNormal* n, int count, const Part* parts) {
  int begin = 0;
  while (begin < count && parts[begin].outer.c < 0.0) {
    begin++;
  }
  bool all_negative = begin == count;
  begin = all_negative ? 0 : begin;
  PawlNode sum = pawl_dag_const(n->dag, 0.0);
  for (int k = -1; k < count; k++) {
    int i = k < 0 ? begin : k;
    if (k == begin) {
      continue;
    }
    PawlNormalTerm outer = parts[i].outer;
    bool negative = outer.c < 0.0;
    outer.c = fabs(outer.c);
    PawlNode part = product_node(n, outer, parts[i].has_inner, parts[i].inner);
    sum = negative && !all_negative ? pawl_dag_sub(n->dag, sum, part)
                                    : pawl_dag_add(n->dag, sum, part);
  }
  return all_negative ? pawl_dag_neg(n->dag, sum) : sum;
}

static PawlNode cut_and_add(Builder* b, int count, PawlNormalTerm* terms) {
  PawlNormalTerm* picked = pawl_alloc((size_t)count, sizeof *picked);
  Part* parts = pawl_alloc((size_t)count, sizeof *parts);
  PawlNode node = PAWL_NO_NODE;
  if (picked && parts) {
    for (int i = 0; i < count; i++) {
      terms[i].place = i;
    }
    int part_count = find_parts(b, count, terms, picked, parts);
    sort_parts(part_count, parts);
    for (int i = 0; i < part_count; i++) {
      part_count = parts[i].has_inner ? join(b, i, part_count, parts, picked) : part_count;
    }
    node = part_count > 0 ? add_parts(b->n, part_count, parts) : PAWL_NO_NODE;
  }
  pawl_free(picked);
  pawl_free(parts);
  return node;
}

static PawlNode sum_node(Builder* b, int count, PawlNormalTerm* terms) {
  if (count == 0) {
    return pawl_dag_const(b->n->dag, 0.0);
  }
  if (count == 1) {
    return product_node(b->n, terms[0], false, PAWL_NO_NODE);
  }
  Part whole = {0};
  if (pawl_factor_common(b->n, count, terms, &whole.outer) != 0) {
    return PAWL_NO_NODE;
  }
  if (whole.outer.monomial == 0 && whole.outer.trig == 0 && fabs(whole.outer.c) == 1.0) {
    return cut_and_add(b, count, terms);
  }
  if (make_group(b, count, terms, &whole) != 0) {
    return PAWL_NO_NODE;
  }
  return product_node(b->n, whole.outer, true, whole.inner);
}

// ---- the whole ------------------------------------------------------------------------------
// Merges runs of doubling length.
static void sort_terms(const PawlNormal* n, int count, PawlNormalTerm* terms,
                       PawlNormalTerm* spare) {
  for (int run = 1; run < count; run *= 2) {
    for (int begin = 0; begin < count; begin += 2 * run) {
      int middle = begin + run < count ? begin + run : count;
      int end = middle + run < count ? middle + run : count;
      for (int i = begin, j = middle, at = begin; at < end; at++) {
        bool left = j >= end || (i < middle && pawl_term_compare(n, &terms[i], &terms[j]) <= 0);
        spare[at] = left ? terms[i++] : terms[j++];
      }
    }
    for (int i = 0; i < count; i++) {
      terms[i] = spare[i];
    }
  }
}

static PawlNode build_once(PawlNormal* n, int count, const PawlNormalTerm* terms,
                           PawlNormalTerm* work, bool trig_first) {
  for (int i = 0; i < count; i++) {
    work[i] = terms[i];
  }
  return sum_node(&(Builder){n, trig_first}, count, work);
}

static PawlNode build_best(PawlNormal* n, int count, const PawlNormalTerm* terms,
                           PawlNormalTerm* work) {
  int trigs = 0;
  for (int i = 0; i < count; i++) {
    trigs += terms[i].trig != 0;
  }
  PawlNode node = build_once(n, count, terms, work, true);
  if (trigs < 2 || count < 3 || node < 0) {
    return node;
  }
  PawlNode other = build_once(n, count, terms, work, false);
  if (other < 0 || other == node) {
    return other;
  }
  long long cost = pawl_dag_cost(n->dag, 1, &node), other_cost = pawl_dag_cost(n->dag, 1, &other);
  if (cost < 0 || other_cost < 0) {
    return PAWL_NO_NODE;
  }
  return other_cost < cost ? other : node;
}

PawlNode pawl_poly_build(PawlNormal* n, const PawlPoly* p) {
  size_t count = (size_t)p->count;
  PawlNormalTerm* terms = pawl_alloc(2 * count, sizeof *terms);
  PawlNode node = PAWL_NO_NODE;
  if (terms) {
    for (int i = 0; i < p->count; i++) {
      terms[i] = p->term[i];
    }
    sort_terms(n, p->count, terms, terms + count);
    node = build_best(n, p->count, terms, terms + count);
  }
  pawl_free(terms);
  n->no_memory = n->no_memory || node < 0;
  return node;
}
