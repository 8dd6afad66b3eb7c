// SPDX-License-Identifier: Apache-2.0
// Factors of the terms of a polynomial: which one most terms share, what all of them share, and the
// division by it. Ties go to what comes first, so that the result follows from the order of the
// terms alone.
#include "base/alloc.h"
#include "expr/normal_poly.h"

// The number that could be taken out of a term, 1 for none. Nothing is saved by taking it out of a
// term that is a number and no more.
static double number_of(const PawlNormalTerm* term) {
  return term->monomial == 0 && term->trig == 0 ? 1.0 : fabs(term->c);
}

// ---- counting -------------------------------------------------------------------------------
static uint32_t hash_factor(const PawlFactor* f) {
  uint64_t key = (uint64_t)(uint32_t)f->id << 2 | (uint64_t)f->kind;
  int exponent;
  // The 53 bits of a number; its exponent is left out.
  key += (uint64_t)(frexp(f->c, &exponent) * 9007199254740992.0) << 2;
  return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 33);
}

static int count_one(PawlNormal* n, PawlFactor wanted) {
  uint32_t mask = (uint32_t)n->tally_size - 1;
  uint32_t at = hash_factor(&wanted) & mask;
  for (; n->tally[at] != 0; at = (at + 1) & mask) {
    PawlFactor* like = &n->factor[n->tally[at] - 1];
    if (like->kind == wanted.kind && like->id == wanted.id && like->c == wanted.c) {
      like->count++;
      return 0;
    }
  }
  if (PAWL_GROW(n->factor, n->factor_capacity, n->factor_count + 1) != 0) {
    return -1;
  }
  wanted.count = 1;
  n->factor[n->factor_count++] = wanted;
  n->tally[at] = n->factor_count;
  return 0;
}

static int count_term(PawlNormal* n, const PawlNormalTerm* term) {
  PawlList list = n->monomials.list[term->monomial];
  if (term->trig != 0 && count_one(n, (PawlFactor){PAWL_FACTOR_TRIG, term->trig, 0.0, 0}) != 0) {
    return -1;
  }
  for (int k = 0; k < list.count; k++) {
    PawlNormalItem item = n->monomials.item[list.first + k];
    PawlFactorKind kind = item.power > 0 ? PAWL_FACTOR_ATOM : PAWL_FACTOR_INVERSE;
    if (count_one(n, (PawlFactor){kind, item.id, 0.0, 0}) != 0) {
      return -1;
    }
  }
  double size = number_of(term);
  return size == 1.0 ? 0 : count_one(n, (PawlFactor){PAWL_FACTOR_NUMBER, 0, size, 0});
}

static int count_factors(PawlNormal* n, int count, const PawlNormalTerm* terms) {
  int most = 0, size = 16;
  for (int i = 0; i < count; i++) {
    most += n->monomials.list[terms[i].monomial].count + 2;
  }
  while (size < 2 * most) {
    size *= 2;
  }
  if (PAWL_GROW(n->tally, n->tally_capacity, size) != 0) {
    return -1;
  }
  for (int i = 0; i < size; i++) {
    n->tally[i] = 0;
  }
  n->tally_size = size;
  n->factor_count = 0;
  for (int i = 0; i < count; i++) {
    if (count_term(n, &terms[i]) != 0) {
      return -1;
    }
  }
  return 0;
}

// What taking the factor out saves, in operations; a division counts as four.
static int gain(const PawlFactor* factor, bool trig_first) {
  int saved = factor->count - 1;
  if (factor->kind == PAWL_FACTOR_TRIG && trig_first) {
    return saved * 4 * PAWL_NORMAL_TERMS;
  }
  return factor->kind == PAWL_FACTOR_INVERSE ? 4 * saved : saved;
}

int pawl_factor_choose(PawlNormal* n, int count, const PawlNormalTerm* terms, bool trig_first,
                       PawlFactor* best) {
  *best = (PawlFactor){.count = 1};
  if (count_factors(n, count, terms) != 0) {
    return -1;
  }
  for (int i = 0; i < n->factor_count; i++) {
    if (gain(&n->factor[i], trig_first) > gain(best, trig_first)) {
      *best = n->factor[i];
    }
  }
  return best->count > 1;
}

// ---- taking out -----------------------------------------------------------------------------
static bool has_factor(const PawlNormal* n, const PawlNormalTerm* term, const PawlFactor* factor) {
  if (factor->kind == PAWL_FACTOR_TRIG) {
    return term->trig == factor->id;
  }
  if (factor->kind == PAWL_FACTOR_NUMBER) {
    return number_of(term) == factor->c;
  }
  PawlList list = n->monomials.list[term->monomial];
  for (int i = 0; i < list.count; i++) {
    const PawlNormalItem* item = &n->monomials.item[list.first + i];
    if (item->id == factor->id && (item->power > 0) == (factor->kind == PAWL_FACTOR_ATOM)) {
      return true;
    }
  }
  return false;
}

int pawl_factor_pick(const PawlNormal* n, const PawlFactor* factor, int count,
                     PawlNormalTerm* terms, PawlNormalTerm* picked) {
  int moved = 0, kept = 0;
  for (int i = 0; i < count; i++) {
    if (has_factor(n, &terms[i], factor)) {
      picked[moved++] = terms[i];
    } else {
      terms[kept++] = terms[i];
    }
  }
  return moved;
}

int pawl_factor_common(PawlNormal* n, int count, const PawlNormalTerm* terms,
                       PawlNormalTerm* common) {
  *common = terms[0];
  double size = number_of(common);
  for (int i = 1; i < count; i++) {
    common->monomial = pawl_monomial_common(n, common->monomial, terms[i].monomial);
    if (common->monomial < 0) {
      return -1;
    }
    common->trig = common->trig == terms[i].trig ? common->trig : 0;
    size = size == number_of(&terms[i]) ? size : 1.0;
  }
  common->c = common->c < 0.0 ? -size : size;
  return 0;
}

int pawl_factor_divide(PawlNormal* n, int count, PawlNormalTerm* terms,
                       const PawlNormalTerm* factor) {
  bool number = fabs(factor->c) != 1.0;
  for (int i = 0; i < count; i++) {
    PawlNormalTerm* term = &terms[i];
    term->c = factor->c < 0.0 ? -term->c : term->c;
    term->c = number ? copysign(1.0, term->c) : term->c;
    term->trig = factor->trig != 0 ? 0 : term->trig;
    term->monomial = pawl_monomial_without(n, term->monomial, factor->monomial);
    if (term->monomial < 0) {
      return -1;
    }
  }
  return 0;
}
