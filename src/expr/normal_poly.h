// SPDX-License-Identifier: Apache-2.0
// Inside of the normal form: polynomials whose terms are
//
//   coefficient * monomial * (1, cos angle or sin angle)
//
// A monomial is a product of powers of atoms; an atom is a node of the graph, a leaf or whatever is
// not taken apart. An angle is a sum of monomials with coefficients. Both are kept once each and
// named by small numbers, so that terms are compared and merged by two integers.
#pragma once

#include <stdint.h>

#include "expr/normal.h"

// ---- lists that exist once (normal_list.c) ----------------------------------------------------
typedef struct PawlNormalItem {
  int id;     // of a monomial: the atom; of an angle: the monomial
  int power;  // of a monomial: the exponent, not 0; of an angle: 1
  double c;   // of a monomial: 1; of an angle: the coefficient
} PawlNormalItem;

typedef struct PawlList {
  int first, count;  // in PawlLists.item
  uint32_t hash;
} PawlList;

typedef struct PawlLists {
  PawlNormalItem* item;
  int item_count, item_capacity;
  PawlList* list;
  int count, capacity;
  int* table;  // number of the list plus 1; open addressing, at most half full
  int table_size;
} PawlLists;

// The number of the list with exactly these items, found or added; -1: no memory. `items` must not
// point into the lists.
int pawl_lists_find(PawlLists* lists, int count, const PawlNormalItem* items);
void pawl_lists_free(PawlLists* lists);

// ---- terms ------------------------------------------------------------------------------------
// 0, or the number of an angle times 2, plus 1 for a cosine, 2 for a sine.
typedef int PawlTrig;
static inline PawlTrig pawl_trig(int angle, bool sine) {
  return 2 * angle + (sine ? 2 : 1);
}
static inline int pawl_trig_angle(PawlTrig trig) {
  return (trig - 1) / 2;
}
static inline bool pawl_trig_is_sine(PawlTrig trig) {
  return trig % 2 == 0;
}

typedef struct PawlNormalTerm {
  double c;
  double size;  // sum of |c_k| over all that was merged into it
  int monomial;
  PawlTrig trig;
  int place;  // while a sum is written: where in it
} PawlNormalTerm;

typedef struct PawlPoly {  // no two terms alike, none with coefficient 0; the order is arbitrary
  PawlNormalTerm* term;
  int count;
} PawlPoly;

// An angle with its leading coefficient made positive, or a mere number.
typedef struct PawlAngle {
  int angle;    // -1: a number
  bool turned;  // the sign was changed
  double value;
} PawlAngle;

// A sum of two angles that was worked out before; sums of angles repeat a lot.
typedef struct PawlTurnMemo {
  int a_plus_1, b;
  double sign;
  PawlAngle turn;
} PawlTurnMemo;

typedef enum PawlFactorKind {
  PAWL_FACTOR_TRIG,
  PAWL_FACTOR_ATOM,
  PAWL_FACTOR_INVERSE,
  PAWL_FACTOR_NUMBER
} PawlFactorKind;

typedef struct PawlFactor {
  PawlFactorKind kind;
  int id;     // TRIG: the PawlTrig; ATOM, INVERSE: the atom, to whatever power; else 0
  double c;   // NUMBER: the magnitude, not 1; else 0
  int count;  // terms that have it
} PawlFactor;

typedef struct PawlNormal {
  PawlDag* dag;
  PawlLists monomials;  // number 0 is the empty one, which is 1
  PawlLists angles;
  PawlTurnMemo* memo;   // PAWL_NORMAL_MEMO entries; a newer one takes the place of an older
  PawlNormalTerm* sum;  // the polynomial being added up
  int sum_count, sum_capacity;
  int* table;  // number of a term of the sum plus 1
  int table_size, table_capacity;
  PawlFactor* factor;  // factors of the terms looked at, each with its count
  int factor_count, factor_capacity;
  int* tally;  // number of a factor plus 1
  int tally_size, tally_capacity;
  long long work;
  bool no_memory;  // tells a lack of memory from a limit that was passed
} PawlNormal;

int pawl_normal_start(PawlNormal* n, PawlDag* dag);  // 0, or -1: no memory; free it in any case
void pawl_normal_free(PawlNormal* n);

// ---- monomials and angles (normal_list.c): -1 on a limit or for lack of memory -----------------
int pawl_monomial_atom(PawlNormal* n, PawlNode atom, int power);
int pawl_monomial_mul(PawlNormal* n, int a, int b);
int pawl_monomial_power(PawlNormal* n, int a, int exponent);  // exponent < 0: all powers positive
int pawl_monomial_degree(const PawlNormal* n, int a);
bool pawl_monomial_is_whole(const PawlNormal* n, int a);  // no negative power
// Takes the factors of `part`, each of which `a` has with at least that power.
int pawl_monomial_without(PawlNormal* n, int a, int part);
// Factors that both have, with the power nearer to 0.
int pawl_monomial_common(PawlNormal* n, int a, int b);

// a + sign*b.
int pawl_angle_combine(PawlNormal* n, int a, int b, double sign, PawlAngle* out);
// The polynomial as an angle: 1, 0 when it is not fit to be one, -1 for lack of memory.
int pawl_angle_of(PawlNormal* n, const PawlPoly* p, PawlAngle* out);

// The order of writing; negative, 0 or positive.
int pawl_term_compare(const PawlNormal* n, const PawlNormalTerm* a, const PawlNormalTerm* b);

// ---- arithmetic (normal_poly.c): 0, or -1 on a limit or for lack of memory ----------------------
int pawl_poly_number(PawlNormal* n, double c, PawlPoly* out);
int pawl_poly_atom(PawlNormal* n, PawlNode atom, int power, PawlPoly* out);
int pawl_poly_trig(PawlNormal* n, PawlAngle turn, bool sine, PawlPoly* out);
int pawl_poly_add(PawlNormal* n, const PawlPoly* a, const PawlPoly* b, double sign, PawlPoly* out);
int pawl_poly_mul(PawlNormal* n, const PawlPoly* a, const PawlPoly* b, PawlPoly* out);
int pawl_poly_power(PawlNormal* n, const PawlPoly* a, int exponent, PawlPoly* out);
int pawl_poly_over(PawlNormal* n, const PawlPoly* a, const PawlPoly* b,
                   PawlPoly* out);  // b inverts
void pawl_poly_free(PawlPoly* p);
// True when 1/p is again one term: a product of positive powers without sine or cosine.
bool pawl_poly_inverts(const PawlNormal* n, const PawlPoly* p);

// ---- factors (normal_factor.c): -1 for lack of memory -------------------------------------------
// 1 with the factor that saves most, 0 when no two terms share one. `trig_first`: sines and cosines
// come before all other factors.
int pawl_factor_choose(PawlNormal* n, int count, const PawlNormalTerm* terms, bool trig_first,
                       PawlFactor* best);
// Moves the terms with the factor to `picked`; both keep their order. How many were moved.
int pawl_factor_pick(const PawlNormal* n, const PawlFactor* factor, int count,
                     PawlNormalTerm* terms, PawlNormalTerm* picked);
// What all terms have (count >= 1), with the sign of the first. A number only where all have one of
// the same magnitude and something besides.
int pawl_factor_common(PawlNormal* n, int count, const PawlNormalTerm* terms,
                       PawlNormalTerm* common);
int pawl_factor_divide(PawlNormal* n, int count, PawlNormalTerm* terms,
                       const PawlNormalTerm* factor);

// The polynomial as a node (normal_build.c); PAWL_NO_NODE for lack of memory.
PawlNode pawl_poly_build(PawlNormal* n, const PawlPoly* p);

#define PAWL_NORMAL_MEMO 1024  // a power of 2
// |c| of this share of the sum of |c_k| or less is a cancellation.
#define PAWL_NORMAL_CANCELS (4.0 * 2.220446049250313e-16)
