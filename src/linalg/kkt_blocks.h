// SPDX-License-Identifier: Apache-2.0
// The schedule by which a KKT matrix is eliminated in small dense blocks (docs/theory/kkt.md,
// section 8). It follows from the pattern alone. Unknowns that are eliminated one after the other
// and act on the same later ones are a node: p pivots at `first`, and r later places, its rest.
//
//             p    r
//        p  [ A11  U  ]      rows at `U` in the values, p + r numbers each
//        r  [ L    .  ]      the transpose of L at `L`, p rows of r numbers
//
// The square of the rest belongs to later nodes: what a node takes from it goes straight there.
// Two nodes of the same sizes that know nothing of each other, as those at both ends of a chain,
// are eliminated side by side: their numbers take turns, in the values and in vectors.
#pragma once

#include <limits.h>
#include <math.h>

#include "base/flush.h"
#include "base/pool.h"
#include "base/sized.h"  // for kkt_shapes.def
#include "linalg/kkt_impl.h"

// More pivots than this are several nodes: what one takes from the next is computed in tiles.
#define PAWL_KKT_PIVOTS 32
#define PAWL_KKT_SHAPE(p, r) ((p)*16 + (r))  // of a node whose products are listed
#define PAWL_KKT_WIDE 2                      // nodes that are side by side
#define PAWL_KKT_KIND(p, r, level) (2 * PAWL_KKT_SHAPE(p, r) + (level))
#define PAWL_KKT_ALONE USHRT_MAX

typedef struct PawlKktNode {
  int first, r;
  int U, L;            // in the values
  int spot;            // in a vector: the first pivot
  int rest;            // in `rest`: r places, ascending; in the end, where these are in a vector
  int plan;            // in `plan`, see there
  int pieces;          // 0: `plan` lists where each of the r by r numbers goes, row by row
  short shape;         // PAWL_KKT_SHAPE, or -1: rows may be exchanged, or it has pieces
  unsigned char p;     // at most PAWL_KKT_PIVOTS
  unsigned char step;  // from one number of U, L and the pivots in a vector to the next:
                       // PAWL_KKT_WIDE for each of two nodes side by side, else 1
  bool straight;       // in each row of these, places on and right of the diagonal are side by side
} PawlKktNode;

// A part of the rest of a node that is pivots of one later node: rows from .. end - 1 of the rest.
// In `plan`, one after the other, with the places of from .. r - 1 in that node behind each:
// 0 .. p - 1 its pivots, p .. its rest.
typedef struct PawlKktPiece {
  int node, from, end;
} PawlKktPiece;
#define PAWL_KKT_PIECE 3  // numbers of a piece in `plan`, before its places

typedef struct PawlKktJudged {  // the largest entry of L, the smallest pivot
  double top, least;
} PawlKktJudged;

typedef struct PawlKktRun {  // nodes first .. end - 1, side by side
  int first, end;
} PawlKktRun;

// Nodes first .. end - 1. With symmetry, the lists of a pair of them are those of the pair `period`
// pairs before it: its rest moved on by `vector`, places of its products by `values`. A period has
// `rest` and `plan` numbers in the lists. Period 0: that is not so.
typedef struct PawlKktRepeat {
  int first, end, period;
  int rest, plan;
  int vector, values;
} PawlKktRepeat;

typedef struct PawlKktScript PawlKktScript;  // kkt_script.c

struct PawlKktBlocks {
  int count;
  PawlKktNode* nodes;  // (count) in the order of elimination
  int *rest, *plan;
  // Of each node that is beside another PAWL_KKT_KIND, `level` where what both act on is side by
  // side, too; else, and before the first and behind the last one, PAWL_KKT_ALONE.
  unsigned short* kinds;
  int repeat_count;
  PawlKktRepeat* repeats;
  int coordinates;  // masses are before this place, where they come first
  int* at;          // (size) the place of an unknown in a vector
  // The same as what is placed, with R, or taken back, with C: unknowns, multipliers.
  PawlKktBlock place_x, place_y, take_x, take_y;
  int* diagonal;         // (size) where the diagonal entry of an unknown is in the values
  int *home_B, *home_J;  // (entries of G) places of entries of active rows, filled before the
  bool has_homes;        // first row is idle
  int most_rest;         // largest r
  size_t U_count;        // entries of all U, which come first
  int full;              // before this place entries of S and B have every place of U; 0: not all
  int mirror_count,
      *mirror;  // (2 mirror_count) entries of S and their transposes; -1: some have none
  bool even;    // the factorisation has used symmetry, and has no L
  // Entries of S that are left out: each with the places of the two diagonal entries in S; and how
  // many there are in a row, at most.
  int loose_count, loose_most, *loose;  // (3 loose_count)
  bool refines_loose;                   // they are not 0: solutions are refined until they stay
  double *rest_x, *rest_y;              // (n), (m) what is left
  size_t value_count;
  double entries;     // of L and U
  bool masses_first;  // all coordinates come before the rows that they are in
  PawlPool* pool;     // NULL: one thread
  int run_count;      // 0: masses are in no runs
  int run_first, run_end;
  PawlKktRun* runs;
  int late_count, *late;  // the first of two nodes that are in none, after all of them
  PawlKktJudged* judged;  // (run_count)
  // Numbers:
  double* room;           // for a few rows of a rest
  PawlKktScript* script;  // all of this as machine code, see kkt_script.c; NULL: without
  int* exchange;  // (size) the row that took the place of each pivot in its node; NULL: none did
  double* two;    // (2 size) two right sides
  double refined_growth, most_growth;  // [1] entries of L up to which solutions are good as they
                                       // are, and after one step of refinement
  bool refine;  // solutions need a step of refinement, with the numbers that were given
  double *right_x, *right_y;      // (n), (m)
  const double *next_x, *next_y;  // the right side that is solved with first; NULL: not known
  bool is_down;                   // it has gone down with the factors, and stands in `work`
};

// -1 for masses, 1 for rows, where masses come first.
static inline double pawl_kkt_sign(const PawlKktBlocks* b, const PawlKktNode* node) {
  return node->first < b->coordinates ? -1.0 : 1.0;
}

// kkt_wide.c: nodes that are side by side, from `node` on and before `end`, or down to `first`;
// return the node behind them, or before. Solutions are of one right side, which goes down on the
// way where factors are given one (`w`; NULL: none).
const PawlKktNode* pawl_kkt_wide_factor(const PawlKktBlocks* b, const PawlKktNode* node,
                                        const PawlKktNode* end, double* values, double* w,
                                        PawlKktJudged* judged);
const PawlKktNode* pawl_kkt_wide_down(const PawlKktBlocks* b, const PawlKktNode* node,
                                      const PawlKktNode* end, const double* values, double* w);
const PawlKktNode* pawl_kkt_wide_up(const PawlKktBlocks* b, const PawlKktNode* node,
                                    const PawlKktNode* first, const double* values, double* w);

// kkt_blocks_solve.c: a right side into the order of the nodes, scaled; and, with symmetry, through
// nodes first .. end - 1 on the way down.
void pawl_kkt_blocks_place(const PawlKkt* kkt, const double* x, const double* y);
void pawl_kkt_blocks_down(const PawlKktBlocks* b, const PawlKktNode* first, const PawlKktNode* end,
                          const double* values, double* w);

// kkt_script.c: machine code for all of it, of systems of medium size;
// factors by it where it is there and says that this may be done without a look at each number, and
// solves with such factors or others of the same kind. False: it is left to the loops.
typedef void PawlKktScriptSolve(const double* values, const double* table, double* x, double* y,
                                double* w);
// Elimination and solution take what is next to zero as 0 (base/flush.h), beyond the size of what
// machine code does: along a chain that is disturbed at one end numbers fade into such ones.
enum { PAWL_KKT_FLUSHED = 160 };  // unknowns
static inline unsigned pawl_kkt_blocks_flush(const PawlKkt* kkt) {
  return kkt->size > PAWL_KKT_FLUSHED ? pawl_flush_begin() : 0;
}
static inline void pawl_kkt_blocks_flushed(const PawlKkt* kkt, unsigned mode) {
  if (kkt->size > PAWL_KKT_FLUSHED) {
    pawl_flush_end(mode);
  }
}

PAWL_CHECKED PawlStatus pawl_kkt_script_create(PawlKkt* kkt);
bool pawl_kkt_script_factor(PawlKkt* kkt, const double* S, const double* B, const double* J);
bool pawl_kkt_script_solve(const PawlKkt* kkt, double* x, double* y);

// kkt_repeats.c: finds the stretches; that of node s.
PAWL_CHECKED PawlStatus pawl_kkt_repeats_find(PawlKktBlocks* b, PawlArena* arena);
const PawlKktRepeat* pawl_kkt_repeats_at(const PawlKktBlocks* b, int s);

// kkt_runs.c: what is done with the masses of large systems, nodes run_first .. run_end - 1, by
// threads.
PAWL_CHECKED PawlStatus pawl_kkt_runs_find(PawlKktBlocks* b, PawlArena* arena, int size);
void pawl_kkt_runs_factor(const PawlKktBlocks* b, double* values, double* w, PawlKktJudged* judged);
void pawl_kkt_runs_down(const PawlKktBlocks* b, const double* values, double* w);
void pawl_kkt_runs_up(const PawlKktBlocks* b, const double* values, double* w);

// kkt_plan.c: the schedule, and the places of S. What lasts is taken from `arena`.
PAWL_CHECKED PawlStatus pawl_kkt_plan(const PawlKkt* kkt, PawlArena* arena, PawlKktBlocks* blocks);

static inline double pawl_kkt_larger(double top, double l) {
  double size = fabs(l);
  return size > top ? size : top;
}
