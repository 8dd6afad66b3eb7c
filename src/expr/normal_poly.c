// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the polynomials of the normal form. Terms are added up in a table, in the order in
// which they come, so that the same expression gives the same bits on every run.
//
// Products of sines and cosines become sums:
//   cos a cos b = (cos(a - b) + cos(a + b)) / 2
//   sin a sin b = (cos(a - b) - cos(a + b)) / 2
//   sin a cos b = (sin(a - b) + sin(a + b)) / 2
#include "expr/normal_poly.h"

#include <string.h>

#include "base/alloc.h"
#include "expr/elementary.h"

int pawl_normal_start(PawlNormal* n, PawlDag* dag) {
  *n = (PawlNormal){.dag = dag};
  n->memo = pawl_alloc(PAWL_NORMAL_MEMO, sizeof *n->memo);
  n->no_memory = !n->memo || pawl_lists_find(&n->monomials, 0, NULL) != 0;  // number 0 is 1
  return n->no_memory ? -1 : 0;
}

void pawl_normal_free(PawlNormal* n) {
  pawl_lists_free(&n->monomials);
  pawl_lists_free(&n->angles);
  pawl_free(n->memo);
  pawl_free(n->sum);
  pawl_free(n->table);
  pawl_free(n->factor);
  pawl_free(n->tally);
}

void pawl_poly_free(PawlPoly* p) {
  pawl_free(p->term);
  *p = (PawlPoly){0};
}

// ---- adding up ------------------------------------------------------------------------------
// Starts a sum of at most `most` terms.
static int sum_begin(PawlNormal* n, long long most) {
  int expected = most < PAWL_NORMAL_TERMS ? (int)most : PAWL_NORMAL_TERMS;
  int size = 16;
  while (size < 2 * (expected + 1)) {
    size *= 2;
  }
  n->work += most;
  if (n->work > PAWL_NORMAL_WORK) {
    return -1;
  }
  if (PAWL_GROW(n->table, n->table_capacity, size) != 0 ||
      PAWL_GROW(n->sum, n->sum_capacity, expected + 1) != 0) {
    n->no_memory = true;
    return -1;
  }
  memset(n->table, 0, (size_t)size * sizeof *n->table);
  n->table_size = size;
  n->sum_count = 0;
  return 0;
}

static int sum_add(PawlNormal* n, PawlNormalTerm term) {
  uint32_t mask = (uint32_t)n->table_size - 1;
  uint64_t key = (uint64_t)(uint32_t)term.monomial << 32 | (uint32_t)term.trig;
  uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 40) & mask;
  for (; n->table[at] != 0; at = (at + 1) & mask) {
    PawlNormalTerm* like = &n->sum[n->table[at] - 1];
    if (like->monomial == term.monomial && like->trig == term.trig) {
      like->c += term.c;
      like->size += term.size;
      return 0;
    }
  }
  if (n->sum_count >= PAWL_NORMAL_TERMS) {
    return -1;
  }
  n->sum[n->sum_count++] = term;
  n->table[at] = n->sum_count;
  return 0;
}

// Drops what cancelled and hands the sum over.
static int sum_end(PawlNormal* n, PawlPoly* out) {
  int count = 0;
  for (int i = 0; i < n->sum_count; i++) {
    PawlNormalTerm term = n->sum[i];
    if (!isfinite(term.c) || !isfinite(term.size)) {
      return -1;
    }
    if (fabs(term.c) > PAWL_NORMAL_CANCELS * term.size) {
      n->sum[count++] = term;
    }
  }
  PawlNormalTerm* terms = pawl_alloc((size_t)count, sizeof *terms);
  if (!terms) {
    n->no_memory = true;
    return -1;
  }
  if (count > 0) {
    memcpy(terms, n->sum, (size_t)count * sizeof *terms);
  }
  *out = (PawlPoly){terms, count};
  return 0;
}

static int one_term(PawlNormal* n, double c, int monomial, PawlTrig trig, PawlPoly* out) {
  if (monomial < 0 || sum_begin(n, 1) != 0) {
    return -1;
  }
  if (c != 0.0 && sum_add(n, (PawlNormalTerm){c, fabs(c), monomial, trig, 0}) != 0) {
    return -1;
  }
  return sum_end(n, out);
}

int pawl_poly_number(PawlNormal* n, double c, PawlPoly* out) {
  return one_term(n, c, 0, 0, out);
}

int pawl_poly_atom(PawlNormal* n, PawlNode atom, int power, PawlPoly* out) {
  return one_term(n, 1.0, pawl_monomial_atom(n, atom, power), 0, out);
}

int pawl_poly_trig(PawlNormal* n, PawlAngle turn, bool sine, PawlPoly* out) {
  if (turn.angle < 0) {
    return one_term(n, sine ? pawl_sin(turn.value) : pawl_cos(turn.value), 0, 0, out);
  }
  double c = sine && turn.turned ? -1.0 : 1.0;
  return one_term(n, c, 0, pawl_trig(turn.angle, sine), out);
}

int pawl_poly_add(PawlNormal* n, const PawlPoly* a, const PawlPoly* b, double sign, PawlPoly* out) {
  if (sum_begin(n, (long long)a->count + b->count) != 0) {
    return -1;
  }
  for (int i = 0; i < a->count; i++) {
    if (sum_add(n, a->term[i]) != 0) {
      return -1;
    }
  }
  for (int i = 0; i < b->count; i++) {
    PawlNormalTerm term = b->term[i];
    term.c *= sign;
    if (sum_add(n, term) != 0) {
      return -1;
    }
  }
  return sum_end(n, out);
}

// ---- multiplying ----------------------------------------------------------------------------
// Adds term * (cos or sin of a turned angle).
static int add_turned(PawlNormal* n, PawlNormalTerm term, PawlAngle turn, bool sine) {
  if (turn.angle >= 0) {
    term.trig = pawl_trig(turn.angle, sine);
    term.c = sine && turn.turned ? -term.c : term.c;
    return sum_add(n, term);
  }
  double factor = sine ? pawl_sin(turn.value) : pawl_cos(turn.value);
  if (factor == 0.0) {
    return 0;
  }
  term.trig = 0;
  term.c *= factor;
  term.size *= fabs(factor);
  return sum_add(n, term);
}

// term * (trig a)(trig b), with term free of both.
static int add_trig_product(PawlNormal* n, PawlNormalTerm term, PawlTrig a, PawlTrig b) {
  if (pawl_trig_is_sine(b) && !pawl_trig_is_sine(a)) {
    PawlTrig swap = a;
    a = b;
    b = swap;
  }
  PawlAngle difference, sum;
  int angle_a = pawl_trig_angle(a), angle_b = pawl_trig_angle(b);
  if (pawl_angle_combine(n, angle_a, angle_b, -1.0, &difference) != 0 ||
      pawl_angle_combine(n, angle_a, angle_b, 1.0, &sum) != 0) {
    return -1;
  }
  bool both = pawl_trig_is_sine(b), one = pawl_trig_is_sine(a) && !both;
  term.c *= 0.5;
  term.size *= 0.5;
  if (add_turned(n, term, difference, one) != 0) {
    return -1;
  }
  term.c = both ? -term.c : term.c;
  return add_turned(n, term, sum, one);
}

static int add_product(PawlNormal* n, const PawlNormalTerm* a, const PawlNormalTerm* b) {
  PawlNormalTerm term = {a->c * b->c, a->size * b->size, 0, 0, 0};
  term.monomial = pawl_monomial_mul(n, a->monomial, b->monomial);
  if (term.monomial < 0 || !isnormal(term.c)) {
    return -1;
  }
  if (a->trig != 0 && b->trig != 0) {
    return add_trig_product(n, term, a->trig, b->trig);
  }
  term.trig = a->trig != 0 ? a->trig : b->trig;
  return sum_add(n, term);
}

int pawl_poly_mul(PawlNormal* n, const PawlPoly* a, const PawlPoly* b, PawlPoly* out) {
  long long pairs = (long long)a->count * b->count;
  if (pairs > PAWL_NORMAL_PRODUCTS || sum_begin(n, 2 * pairs) != 0) {
    return -1;
  }
  for (int i = 0; i < a->count; i++) {
    for (int j = 0; j < b->count; j++) {
      if (add_product(n, &a->term[i], &b->term[j]) != 0) {
        return -1;
      }
    }
  }
  return sum_end(n, out);
}

// ---- powers ---------------------------------------------------------------------------------
bool pawl_poly_inverts(const PawlNormal* n, const PawlPoly* p) {
  return p->count == 1 && p->term[0].trig == 0 && pawl_monomial_is_whole(n, p->term[0].monomial);
}

// c1 / c2 is rounded once: 5/3 stays 5/3.
int pawl_poly_over(PawlNormal* n, const PawlPoly* a, const PawlPoly* b, PawlPoly* out) {
  double c = b->term[0].c;
  int inverse = pawl_monomial_power(n, b->term[0].monomial, -1);
  if (inverse < 0 || sum_begin(n, a->count) != 0) {
    return -1;
  }
  for (int i = 0; i < a->count; i++) {
    PawlNormalTerm term = a->term[i];
    term.c /= c;
    term.size /= fabs(c);
    term.monomial = pawl_monomial_mul(n, term.monomial, inverse);
    if (term.monomial < 0 || !isnormal(term.c) || sum_add(n, term) != 0) {
      return -1;
    }
  }
  return sum_end(n, out);
}

static int power_of_term(PawlNormal* n, const PawlNormalTerm* term, int exponent, PawlPoly* out) {
  double c = pawl_powi(term->c, exponent);
  int monomial = pawl_monomial_power(n, term->monomial, exponent);
  return isnormal(c) ? one_term(n, c, monomial, 0, out) : -1;
}

int pawl_poly_power(PawlNormal* n, const PawlPoly* a, int exponent, PawlPoly* out) {
  if (a->count == 1 && a->term[0].trig == 0) {
    return power_of_term(n, &a->term[0], exponent, out);
  }
  PawlPoly power;
  if (pawl_poly_number(n, 1.0, &power) != 0) {
    return -1;
  }
  for (int k = 0; k < exponent; k++) {
    PawlPoly next;
    int failed = pawl_poly_mul(n, &power, a, &next);
    pawl_poly_free(&power);
    if (failed != 0) {
      return -1;
    }
    power = next;
  }
  *out = power;
  return 0;
}
