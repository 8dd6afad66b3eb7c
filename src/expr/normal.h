// SPDX-License-Identifier: Apache-2.0
// A normal form of expressions, and what an expression costs to evaluate.
//
// Derived mechanics is right but long: squares of long sums of sines and cosines where a few
// cosines of differences would do. The normal form is a sum of products in which every product
// holds at most one sine or cosine, like terms are merged, and the sum is then written with common
// factors outside.
#pragma once

#include "expr/dag.h"

// Beyond one of these an expression is left as it is.
#define PAWL_NORMAL_TERMS 2000       // terms of a sum on the way
#define PAWL_NORMAL_DEGREE 32        // degree of a product: sum of |exponents|
#define PAWL_NORMAL_POWER 8          // a sum to a higher power stays a power
#define PAWL_NORMAL_PARTS 16         // terms in the argument of a sine that is taken apart
#define PAWL_NORMAL_PRODUCTS 200000  // pairs of terms in one multiplication
#define PAWL_NORMAL_WORK 20000000LL  // terms touched in one call

// The normal form of `node`: equal in value wherever `node` has one, up to rounding, and a fixed
// point (the normal form of a normal form is the same node). `node` itself where a limit is passed;
// PAWL_NO_NODE when memory is short.
//
// - A term whose coefficient cancels, |sum c_k| <= 4 eps sum |c_k|, is dropped.
// - x/x, x^2/x and the like stay: positive and negative powers of one thing are never merged. A
//   fault disappears only with a term that cancels, as in the simplification x - x = 0.
// - A sine or cosine is taken apart when its argument is a polynomial in leaves with numbers as
//   coefficients; it may divide by parameters. Any other one stays whole.
// - Powers of differences are multiplied out: rounding is relative to the size of the terms, even
//   where they cancel.
// - The order of terms follows from the kinds and indices of the leaves. Where operations other
//   than sums, products, quotients, sines and cosines occur, it also follows from the order in
//   which these entered the graph. (The graph writes b + a for a + b if that is how it met it
//   first.)
PawlNode pawl_dag_normal(PawlDag* dag, PawlNode node);

// The same for many nodes of one graph, whose common parts are worked out once. The limit on work
// holds for all of them together. On failure `out` is not meaningful.
PAWL_CHECKED PawlStatus pawl_dag_normal_all(PawlDag* dag, int count, const PawlNode* nodes,
                                            PawlNode* out);

// What one evaluation of all `roots` costs, common parts counted once: addition, multiplication and
// sign 1, a power as many as its multiplications, division 4, square root 6, sine or cosine 20,
// both of one argument 25, anything else 20; leaves are free. -1 when memory is short.
long long pawl_dag_cost(PawlDag* dag, int count, const PawlNode* roots);

// Replaces those roots by their normal forms for which that makes the whole set cheapest: all,
// none, those that gain on their own, then one at a time for as long as the cost falls.
PAWL_CHECKED PawlStatus pawl_dag_normalize_if_cheaper(PawlDag* dag, int count, PawlNode* roots);
