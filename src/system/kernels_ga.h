// SPDX-License-Identifier: Apache-2.0
// The generalized-alpha iteration of small systems, once, as kernels.h has the loops of explicit
// methods: inline code whose sizes are arguments, for up to PAWL_SIZED_LARGEST velocities and rows.
// The operations are those of step/ga_loops.c, step/ga_end.c and step/nsga_pva.c in their order,
// and so are the bits; the arrays are theirs, too, so that these go on wherever a kernel ends.
// Labels refer to docs/theory/generalized-alpha.md and docs/theory/nsga.md.
//
// A module of compiled C has this text with the shape of its model, all of it constants: nothing is
// left there of loops over entries.
//
// Plain C that needs nothing but the header below and fabs.
#pragma once

#include "system/kernels.h"

#ifdef PAWL_KERNELS_IN_MODULE
#define PAWL_KERNELS_WRITTEN_OUT _Pragma("GCC unroll 8")
#define PAWL_KERNELS_ENTRY(x) pawl_sized_alone(x)  // it may have been stored just before
#else
#define PAWL_KERNELS_WRITTEN_OUT
#define PAWL_KERNELS_ENTRY(x) (x)
#endif

enum { PAWL_KERNELS_MOST = PAWL_SIZED_LARGEST };

typedef struct PawlKernelsColumns {  // entries of a sparse matrix by columns
  const int *start, *index;
} PawlKernelsColumns;

// What stays from step to step of a model, and a compiler may know.
typedef struct PawlKernelsShape {
  int n, rows;
  PawlKernelsColumns mass, H, G;
  const int* diagonal;  // where M_jj is among the entries of M; -1: nowhere
  int stays;            // M: `inverse` has 1 / M_jj
  int turns;            // there is a G_turn
} PawlKernelsShape;

typedef struct PawlKernelsGa PawlKernelsGa;

// 0, or NaN where a value is not finite: M and so on, or the tangents, at (q, v_total, vdot,
// lambda).
typedef double PawlKernelsEvaluateGa(const PawlKernelsGa* g);

// y += A (scale x) by machine code, as pawl_kernels_add does it.
typedef void PawlKernelsProduct(const double* values, const double* x, double* y, double scale);

struct PawlKernelsGa {
  PawlKernelsShape shape;
  PawlKernelsEvaluateGa *evaluate, *tangents;
  PawlKernelsProduct *add_G, *add_H;  // with these patterns; NULL: by loops
  struct {  // where one program writes all of an evaluation: its arguments, see PawlTapeWhole
    double* registers;
    const double* const* from;
    double* const* to;
  } program[2];
  double tolerance;
  double settled, own, lost;  // tolerance, PAWL_OWN_BALANCE and PAWL_LOST_PART^2, less what
                              // rounding does to a comparison
  double flushed;             // PAWL_FLUSHED
  double part;                // PAWL_SMALLEST_PART, less the same
  void* host;                 // what evaluates
  // Written by the evaluations.
  const double *M, *mass_values, *f, *g, *grad, *g_t, *gamma;
  const double *K, *C, *G_rate, *G_acceleration, *G_turn;
  // The step.
  double h, beta_p, gamma_p, alpha_m, alpha_f, beta, gamma_of, more;
  double of_acc, of_v, of_a, of_share;  // 1/beta', gamma'/beta', 1/(h^2 beta), of_acc/(h^2 beta)
  double push_q, push_v;                // what lambda at the end does in positions and rates (N13)
  double *q_n, *v_n, *vdot_n, *lambda_n;  // the state, which the end of the step replaces
  double *a_n, *last_vdot, *last_lambda, *eta_n, *Lambda_n, *nu_n;
  const unsigned char* active;  // rows in force, of positions and rates
  const unsigned char* smooth;  // and those of the smooth motion
  const int* apart;             // rows of contacts that are far away: gaps stay above 0
  int apart_count;
  const int* closed;  // rows of contacts that rest, among those in force: they may not pull
  int closed_count;
  PawlKktDirect by[2];     // the matrices of the smooth motion, and of U and W
  int factored_M, solved;  // the latter is factored; solutions with both
  int evaluations;         // that a kernel of nsga-pvv has made
  // The latter where its numbers stay: whether they are ready to solve with; else NULL.
  int (*ready)(PawlKernelsGa* g);
  int corrected_U, corrected_W;
  // The arrays of the methods.
  double q_total[PAWL_KERNELS_MOST];  // pvv: where positions are corrected
  double q[PAWL_KERNELS_MOST], v[PAWL_KERNELS_MOST], vdot[PAWL_KERNELS_MOST], a[PAWL_KERNELS_MOST];
  double delta[PAWL_KERNELS_MOST], path[PAWL_KERNELS_MOST], v_total[PAWL_KERNELS_MOST];
  double dq[PAWL_KERNELS_MOST], U[PAWL_KERNELS_MOST], W[PAWL_KERNELS_MOST];
  double du[PAWL_KERNELS_MOST], dU[PAWL_KERNELS_MOST], dW[PAWL_KERNELS_MOST];
  double inverse[PAWL_KERNELS_MOST];
  double lambda[PAWL_KERNELS_MOST], dlambda[PAWL_KERNELS_MOST], c[PAWL_KERNELS_MOST];
  double nu[PAWL_KERNELS_MOST], Lambda[PAWL_KERNELS_MOST], rate[PAWL_KERNELS_MOST];
  double S[PAWL_KERNELS_MOST * PAWL_KERNELS_MOST], J[PAWL_KERNELS_MOST * PAWL_KERNELS_MOST];
};

typedef enum PawlKernelsEnd {
  PAWL_KERNELS_UNUSUAL,  // the step is to be taken again without this; the state is as before
  PAWL_KERNELS_CLOSES,   // a contact is not as far as it seemed; as before
  PAWL_KERNELS_GO_ON,    // one correction was made, and evaluated behind it: it is not yet the
                         // end, or not in the usual way
  PAWL_KERNELS_ENDED
} PawlKernelsEnd;

// ---- products -----------------------------------------------------------------------------------
// y += A (scale x), but for columns where that is zero, exactly (linalg/sparse.c).
PAWL_INLINE void pawl_kernels_add(int cols, PawlKernelsColumns A, const double* values,
                                  double scale, const double* x, double* y) {
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < cols; j++) {
    double scaled = scale * x[j];
    for (int k = A.start[j]; scaled != 0.0 && k < A.start[j + 1]; k++) {
      y[A.index[k]] += PAWL_KERNELS_ENTRY(values[k]) * scaled;
    }
  }
}

// The same where there may be code for it, which a module has itself.
PAWL_INLINE void pawl_kernels_add_by(PawlKernelsProduct* code, int cols, PawlKernelsColumns A,
                                     const double* values, double scale, const double* x,
                                     double* y) {
#ifndef PAWL_KERNELS_IN_MODULE
  if (code) {
    code(values, x, y, scale);
    return;
  }
#endif
  (void)code;
  pawl_kernels_add(cols, A, values, scale, x, y);
}
PAWL_INLINE void pawl_kernels_add_G(PawlKernelsShape of, const PawlKernelsGa* g,
                                    const double* values, double scale, const double* x,
                                    double* y) {
  pawl_kernels_add_by(g->add_G, of.n, of.G, values, scale, x, y);
}
PAWL_INLINE void pawl_kernels_add_H(PawlKernelsShape of, const PawlKernelsGa* g,
                                    const double* values, double scale, const double* x,
                                    double* y) {
  pawl_kernels_add_by(g->add_H, of.n, of.H, values, scale, x, y);
}

PAWL_INLINE void pawl_kernels_zeros(int n, double* x) {
  for (int i = 0; i < n; i++) {
    x[i] = pawl_sized_alone(0.0);  // no call for so few
  }
}

// y = plus + G x
PAWL_INLINE void pawl_kernels_rows(PawlKernelsShape of, const PawlKernelsGa* g, const double* x,
                                   const double* plus, double* y) {
  for (int i = 0; i < of.rows; i++) {
    y[i] = pawl_sized_alone(plus[i]);
  }
  pawl_kernels_add_G(of, g, g->grad, 1.0, x, y);
}

// ---- the guess ----------------------------------------------------------------------------------
// Coordinate i of the guess.                                                          (A1) to (A3)
typedef struct PawlKernelsGuess {
  double vdot, a, v, delta;
} PawlKernelsGuess;

typedef struct PawlKernelsGuessBy {
  double h, gamma, beta, alpha_m, alpha_f, more;
} PawlKernelsGuessBy;

PAWL_INLINE PawlKernelsGuess pawl_kernels_guess_of(PawlKernelsGuessBy by, double v_n, double vdot_n,
                                                   double a_n, double last) {
  double h = by.h, gamma = by.gamma, beta = by.beta, alpha_m = by.alpha_m, alpha_f = by.alpha_f;
  double guess = vdot_n + by.more * (vdot_n - last);
  double a = ((1 - alpha_f) * guess + alpha_f * vdot_n - alpha_m * a_n) / (1 - alpha_m);
  return (PawlKernelsGuess){guess, a, v_n + h * ((1 - gamma) * a_n + gamma * a),
                            h * v_n + h * h * ((0.5 - beta) * a_n + beta * a)};
}

// All of it, with U = W = nu = Lambda = 0; lambda of the rows of the smooth motion.
PAWL_INLINE void pawl_kernels_ga_guess(PawlKernelsShape of, PawlKernelsGa* g) {
  PawlKernelsGuessBy by = {g->h, g->gamma_of, g->beta, g->alpha_m, g->alpha_f, g->more};
  for (int i = 0; i < of.n; i++) {
    PawlKernelsGuess x =
        pawl_kernels_guess_of(by, pawl_sized_alone(g->v_n[i]), pawl_sized_alone(g->vdot_n[i]),
                              pawl_sized_alone(g->a_n[i]), pawl_sized_alone(g->last_vdot[i]));
    g->vdot[i] = x.vdot;
    g->path[i] = fabs(x.vdot);
    g->a[i] = x.a;
    g->v[i] = x.v;
    g->delta[i] = x.delta;
    g->U[i] = g->W[i] = 0.0;
  }
  for (int i = 0; i < of.rows; i++) {
    double lambda = g->lambda_n[i];
    g->lambda[i] = g->smooth[i] ? lambda + g->more * (lambda - g->last_lambda[i]) : 0.0;
    g->nu[i] = g->Lambda[i] = pawl_sized_alone(0.0);  // no call for so few
  }
}

// The iterate of pva, with U and W, and that of the smooth motion alone.
PAWL_INLINE void pawl_kernels_pva_place(PawlKernelsShape of, PawlKernelsGa* g) {
  for (int i = 0; i < of.n; i++) {
    g->q[i] = g->q_n[i] + (g->delta[i] + g->U[i]);
    g->v_total[i] = g->v[i] + g->W[i];
  }
}
PAWL_INLINE void pawl_kernels_pvv_place(PawlKernelsShape of, PawlKernelsGa* g) {
  for (int i = 0; i < of.n; i++) {
    g->q[i] = g->q_n[i] + g->delta[i];
  }
}

// ---- the first correction -----------------------------------------------------------------------
// dq = -(M v' - f - G^T lambda) / beta'                                                     (A7)
PAWL_INLINE void pawl_kernels_ga_residual(PawlKernelsShape of, PawlKernelsGa* g) {
  const double *M = g->mass_values, *G = g->grad;
  double k_r = g->of_acc;
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double sum = -pawl_sized_alone(g->f[j]);
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      sum -= G[k] * g->lambda[of.G.index[k]];
    }
    for (int k = of.mass.start[j]; k < of.mass.start[j + 1]; k++) {
      sum += M[k] * g->vdot[of.mass.index[k]];
    }
    g->dq[j] = -sum * k_r;
  }
}

// S and J of the correction.                                                           (A9) (A10)
PAWL_INLINE void pawl_kernels_ga_tangents(PawlKernelsShape of, PawlKernelsGa* g) {
  double of_acc = g->of_acc, of_rate = 2 * g->gamma_p * of_acc, c = g->of_v;
  for (int k = 0; k < of.G.start[of.n]; k++) {
    g->J[k] = g->grad[k] + of_rate * g->G_rate[k] + of_acc * g->G_acceleration[k];
  }
  for (int k = 0; of.turns && k < of.G.start[of.n]; k++) {
    g->J[k] += g->gamma_p * of_acc * g->G_turn[k];
  }
  for (int k = 0; k < of.H.start[of.n]; k++) {
    g->S[k] = g->M[k] + c * g->C[k] + of_acc * g->K[k];
  }
}

PAWL_INLINE void pawl_kernels_solve(PawlKernelsGa* g, const PawlKktDirect* by, double* x,
                                    double* y) {
  pawl_kkt_direct_solve(by, x, y);
  g->solved++;
}

// Adds dq and dlambda to the iterate.                                                        (A9)
PAWL_INLINE void pawl_kernels_ga_add(PawlKernelsShape of, PawlKernelsGa* g) {
  double of_v = g->gamma_p, of_vdot = g->beta_p, of_a = g->of_a;
  for (int i = 0; i < of.n; i++) {
    double dq = pawl_sized_alone(g->dq[i]), of_dq = of_vdot * dq;
    g->delta[i] += dq;
    g->v[i] += of_v * dq;
    g->vdot[i] += of_dq;
    g->path[i] += fabs(of_dq);
    g->a[i] += of_a * dq;
  }
  for (int i = 0; i < of.rows; i++) {
    g->lambda[i] += g->beta_p * g->dlambda[i];
  }
}

// ---- corrections of positions and rates ---------------------------------------------------------
// The factors of M and G. 0: the matrix is not as usual.
PAWL_INLINE int pawl_kernels_factor_M(PawlKernelsGa* g) {
  if (!g->factored_M) {
    g->factored_M =
        g->ready ? g->ready(g) : pawl_kkt_direct_factor(&g->by[1], g->M, g->grad, g->grad);
  }
  return g->factored_M;
}

// M dx = G^T dy + dx, G dx = -c from x = y = 0 (N16) (N17), dx being a force before. 0: the matrix
// is not as usual; 1: there is nothing to correct; 2: corrected. `x` gets dx, and `y` is dy.
PAWL_INLINE int pawl_kernels_correct_level(PawlKernelsShape of, PawlKernelsGa* g, const double* c,
                                           double* dx, double* x, double* y) {
  int nothing = 1;
  for (int j = 0; j < of.n; j++) {
    nothing &= dx[j] == 0.0;
  }
  for (int i = 0; i < of.rows; i++) {
    y[i] = g->active[i] ? -c[i] : 0.0;
    nothing &= y[i] == 0.0;
  }
  if (nothing) {
    pawl_kernels_zeros(of.rows, y);
    return 1;
  }
  if (!pawl_kernels_factor_M(g)) {
    return 0;
  }
  pawl_kernels_solve(g, &g->by[1], dx, y);
  for (int j = 0; j < of.n; j++) {
    x[j] += pawl_sized_alone(dx[j]);
  }
  for (int i = 0; i < of.rows; i++) {
    y[i] = 0.0 + y[i];
  }
  return 2;
}

PAWL_INLINE int pawl_kernels_is_off(PawlKernelsShape of, const PawlKernelsGa* g, const double* row,
                                    const double* size) {
  int off = 0;
  for (int i = 0; i < of.rows; i++) {
    off |= fabs(row[i]) > g->tolerance * (fabs(g->gamma[i]) + (size ? size[i] : 0.0));
  }
  return off;
}

// -(2 G_rate dW + G_acc dU): whether it counts.                                              (N34)
PAWL_INLINE int pawl_kernels_moved(PawlKernelsShape of, const PawlKernelsGa* g, double* row) {
  double size[PAWL_KERNELS_MOST];
  pawl_kernels_zeros(of.rows, row);
  pawl_kernels_add_G(of, g, g->G_rate, -2.0, g->dW, row);
  pawl_kernels_add_G(of, g, g->G_acceleration, -1.0, g->dU, row);
  if (of.turns) {
    pawl_kernels_add_G(of, g, g->G_turn, -1.0, g->dW, row);
  }
  for (int i = 0; i < of.rows; i++) {
    row[i] = g->active[i] ? row[i] : 0.0;
  }
  if (!pawl_kernels_is_off(of, g, row, 0)) {
    return 0;
  }
  pawl_kernels_zeros(of.rows, size);
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double of_a = fabs(g->vdot[j]);
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      size[of.G.index[k]] += fabs(g->grad[k]) * of_a;
    }
  }
  return pawl_kernels_is_off(of, g, row, size);
}

// -(K dU + C dW): whether it counts.                                                         (N36)
PAWL_INLINE int pawl_kernels_forced(PawlKernelsShape of, const PawlKernelsGa* g, double* force) {
  double moved = 0.0, size = 0.0;
  pawl_kernels_zeros(of.n, force);
  pawl_kernels_add_H(of, g, g->K, -1.0, g->dU, force);
  pawl_kernels_add_H(of, g, g->C, -1.0, g->dW, force);
  for (int j = 0; j < of.n; j++) {
    double M = of.diagonal[j] >= 0 ? g->M[of.diagonal[j]] : 0.0, a = g->vdot[j], f = g->f[j];
    double of_force = M > 0.0 ? 1.0 / M : 0.0;
    moved += force[j] * force[j] * of_force;
    size += f * f * of_force + M * a * a;
  }
  return moved > g->tolerance * g->tolerance * size;
}

// What U and W do to accelerations and forces becomes part of the smooth motion.       (N34) (N36)
PAWL_INLINE void pawl_kernels_share(PawlKernelsShape of, PawlKernelsGa* g) {
  double a[PAWL_KERNELS_MOST], b[PAWL_KERNELS_MOST], row[PAWL_KERNELS_MOST],
      other[PAWL_KERNELS_MOST];
  int moved = pawl_kernels_moved(of, g, row), forced = pawl_kernels_forced(of, g, b);
  if (!moved && !forced) {
    return;
  }
  pawl_kernels_zeros(of.n, a);
  pawl_kernels_zeros(of.rows, other);
  pawl_kernels_solve(g, &g->by[1], a, row);
  if (forced) {
    pawl_kernels_solve(g, &g->by[1], b, other);
  }
  double of_q = g->of_acc, of_v = g->of_v, of_a = g->of_share;
  for (int i = 0; i < of.n; i++) {
    double x = pawl_sized_alone(a[i]), dq = of_q * x, dv = of_v * x;
    double both = forced ? x + pawl_sized_alone(b[i]) : x;
    g->dq[i] += of_q * both;
    g->delta[i] += of_q * both;
    g->v[i] += of_v * both;
    g->vdot[i] += both;
    g->path[i] += fabs(both);
    g->a[i] += of_a * both;
    g->U[i] -= dq;
    g->dU[i] -= dq;
    g->W[i] -= dv;
    g->dW[i] -= dv;
  }
  for (int i = 0; i < of.rows; i++) {
    g->lambda[i] += row[i] + other[i];
    g->nu[i] -= of_q * row[i];
    g->Lambda[i] -= of_v * row[i];
  }
}

// Positions, then rates, over the rows of the smooth motion. 0: a matrix is not as usual.
PAWL_INLINE int pawl_kernels_correct_both(PawlKernelsShape of, PawlKernelsGa* g) {
  double x[PAWL_KERNELS_MOST];
  pawl_kernels_rows(of, g, g->dq, g->g, g->rate);
  pawl_kernels_zeros(of.n, g->dU);
  pawl_kernels_zeros(of.n, g->dW);
  g->corrected_U = pawl_kernels_correct_level(of, g, g->rate, g->dU, g->U, g->nu);
  if (!g->corrected_U) {
    return 0;
  }
  for (int j = 0; j < of.n; j++) {
    x[j] = g->v[j] + 0.0;
  }
  pawl_kernels_rows(of, g, x, g->g_t, g->rate);
  for (int j = 0; j < of.n; j++) {  // G v turns with the positions (N17)
    x[j] = g->corrected_U == 2 ? g->dq[j] + g->dU[j] : g->dq[j];
  }
  pawl_kernels_add_G(of, g, g->G_rate, 1.0, x, g->rate);
  g->corrected_W = pawl_kernels_correct_level(of, g, g->rate, g->dW, g->W, g->Lambda);
  if (g->corrected_U == 2 && g->corrected_W == 2) {
    pawl_kernels_share(of, g);
  }
  return g->corrected_W;
}

// ---- the end ------------------------------------------------------------------------------------
// Sums of r^2/M and terms^2/M of the balance of forces (A7) (A15), and terms/M of each coordinate.
// 0: a coordinate is off by itself.
PAWL_INLINE int pawl_kernels_balance(PawlKernelsShape of, const PawlKernelsGa* g, double* error,
                                     double* size, double* pull) {
  const double *M = g->mass_values, *G = g->grad;
  int holds = 1;
  *error = *size = 0.0;
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double f = pawl_sized_alone(g->f[j]), sum = -f, terms = fabs(f);
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      double term = PAWL_KERNELS_ENTRY(G[k]) * g->lambda[of.G.index[k]];
      sum -= term;
      terms += fabs(term);
    }
    for (int k = of.mass.start[j]; k < of.mass.start[j + 1]; k++) {
      double term = PAWL_KERNELS_ENTRY(M[k]) * g->vdot[of.mass.index[k]];
      sum += term;
      terms += fabs(term);
    }
    int diagonal = of.diagonal[j];
    double weight = diagonal >= 0 ? g->M[diagonal] : 0.0, r = fabs(sum);
    double by = weight > 0.0 ? (of.stays ? g->inverse[j] : 1.0 / weight) : 0.0;
    *error += r * r * by;
    *size += terms * terms * by;
    pull[j] = terms * by;
    holds &= r <= g->own * terms || r <= g->flushed;
    holds &= weight > 0.0 || r <= g->settled * terms;
  }
  return holds;
}

// Whether |c_i| of the rows in force is within a part of its terms.                          (A16)
PAWL_INLINE int pawl_kernels_hold(PawlKernelsShape of, const PawlKernelsGa* g, const double* c,
                                  const double* terms, double part) {
  int hold = 1;
  for (int i = 0; i < of.rows; i++) {
    double x = fabs(c[i]);
    hold &= !g->active[i] || x <= part * terms[i] || x <= g->flushed;
  }
  return hold;
}

// The same of the rows of positions, rates and accelerations at rest, where all that moves is
// rounding: coordinates, rates and accelerations count as no less than a part of what is summed to
// them. `pull`: terms of forces over masses.                                      (A13) (A14) (A16)
PAWL_INLINE int pawl_kernels_hold_at_rest(PawlKernelsShape of, const PawlKernelsGa* g,
                                          const double* pull) {
  double of_q[PAWL_KERNELS_MOST], of_v[PAWL_KERNELS_MOST], of_a[PAWL_KERNELS_MOST], h = g->h;
  for (int i = 0; i < of.rows; i++) {
    of_a[i] = fabs(g->gamma[i]);
    of_q[i] = of_v[i] = pawl_sized_alone(0.0);
  }
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double q = fabs(g->q[j]), v = fabs(g->v_total[j]), vdot = fabs(g->vdot[j]);
    double least_a = g->path[j] + pull[j], least_v = v + fabs(g->v[j]) + h * least_a;
    double least_q = g->part * (q + h * least_v);
    least_v *= g->part;
    least_a *= g->part;
    q = q > least_q ? q : least_q;
    v = v > least_v ? v : least_v;
    vdot = vdot > least_a ? vdot : least_a;
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      double G = fabs(g->grad[k]);
      of_q[of.G.index[k]] += G * q;
      of_v[of.G.index[k]] += G * v;
      of_a[of.G.index[k]] += G * vdot;
    }
  }
  return pawl_kernels_hold(of, g, g->c, of_a, g->settled) &&
         pawl_kernels_hold(of, g, g->g, of_q, g->settled) &&
         pawl_kernels_hold(of, g, g->rate, of_v, g->settled);
}

// Whether the iterate is the end: residuals within the tolerance of terms that count as no more
// than they are, so that the test of step/ga_end.c holds, too, whatever rounding does to it. The
// rates of the rows are left in `rate`.
PAWL_INLINE int pawl_kernels_pva_ended(PawlKernelsShape of, PawlKernelsGa* g) {
  double of_q[PAWL_KERNELS_MOST], of_v[PAWL_KERNELS_MOST], of_a[PAWL_KERNELS_MOST], error, size;
  double pull[PAWL_KERNELS_MOST];
  int holds = pawl_kernels_balance(of, g, &error, &size, pull);
  for (int i = 0; i < of.rows; i++) {
    g->c[i] = pawl_sized_alone(g->gamma[i]);
    g->rate[i] = pawl_sized_alone(g->g_t[i]);
    of_a[i] = fabs(g->c[i]);
    of_q[i] = of_v[i] = pawl_sized_alone(0.0);
  }
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double q = fabs(g->q[j]), v = g->v_total[j], vdot = g->vdot[j];
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      int i = of.G.index[k];
      double G = PAWL_KERNELS_ENTRY(g->grad[k]), of_rate = G * v, of_c = G * vdot;
      g->rate[i] += of_rate;
      g->c[i] += of_c;
      of_q[i] += fabs(G) * q;
      of_v[i] += fabs(of_rate);
      of_a[i] += fabs(of_c);
    }
  }
  if (!holds || !(error <= g->settled * g->settled * size)) {
    return 0;
  }
  return (pawl_kernels_hold(of, g, g->c, of_a, g->settled) &&
          pawl_kernels_hold(of, g, g->g, of_q, g->settled) &&
          pawl_kernels_hold(of, g, g->rate, of_v, g->settled)) ||
         (g->closed_count > 0 && pawl_kernels_hold_at_rest(of, g, pull));
}

// Contacts that rest do not pull, at any level: then they are closed, as it was guessed from the
// step before, and their rows hold. What they push is left as step/nsga_pva.c rounds it. (N13)
// (N44)
PAWL_INLINE int pawl_kernels_press(PawlKernelsGa* g) {
  int press = 1;
  for (int k = 0; k < g->closed_count; k++) {
    int i = g->closed[k];
    double of_q = g->push_q * g->lambda[i], of_v = g->push_v * g->lambda[i];
    double q = g->nu[i] + of_q, v = g->Lambda[i] + of_v;
    press &= q >= 0.0 && v >= 0.0 && g->lambda[i] >= 0.0;
  }
  for (int k = 0; press && k < g->closed_count; k++) {
    int i = g->closed[k];
    double of_q = g->push_q * g->lambda[i], of_v = g->push_v * g->lambda[i];
    g->nu[i] = (g->nu[i] + of_q) - of_q;
    g->Lambda[i] = (g->Lambda[i] + of_v) - of_v;
  }
  return press;
}

PAWL_INLINE int pawl_kernels_are_apart(const PawlKernelsGa* g) {
  int apart = 1;
  for (int k = 0; k < g->apart_count; k++) {
    apart &= g->g[g->apart[k]] > 0.0;
  }
  return apart;
}

// From the guess: a correction of the smooth motion, of positions and of rates, and the residuals
// behind it.
PAWL_INLINE PawlKernelsEnd pawl_kernels_pva(PawlKernelsShape of, PawlKernelsGa* g,
                                            PawlKernelsEvaluateGa* evaluate,
                                            PawlKernelsEvaluateGa* tangents) {
  g->factored_M = g->solved = 0;
  if (evaluate(g) != 0.0) {
    return PAWL_KERNELS_UNUSUAL;
  }
  if (!pawl_kernels_are_apart(g)) {
    return PAWL_KERNELS_CLOSES;
  }
  pawl_kernels_ga_residual(of, g);
  pawl_kernels_rows(of, g, g->vdot, g->gamma, g->c);
  if (tangents(g) != 0.0) {
    return PAWL_KERNELS_UNUSUAL;
  }
  pawl_kernels_ga_tangents(of, g);
  for (int i = 0; i < of.rows; i++) {
    g->dlambda[i] = g->active[i] ? -g->of_acc * g->c[i] : 0.0;
  }
  if (!pawl_kkt_direct_factor(&g->by[0], g->S, g->grad, g->J)) {
    return PAWL_KERNELS_UNUSUAL;
  }
  pawl_kernels_solve(g, &g->by[0], g->dq, g->dlambda);
  pawl_kernels_ga_add(of, g);
  if (!pawl_kernels_correct_both(of, g)) {
    return PAWL_KERNELS_UNUSUAL;
  }
  pawl_kernels_pva_place(of, g);
  if (evaluate(g) != 0.0) {
    return PAWL_KERNELS_UNUSUAL;
  }
  if (!pawl_kernels_are_apart(g)) {
    return PAWL_KERNELS_CLOSES;
  }
  return pawl_kernels_pva_ended(of, g) && pawl_kernels_press(g) ? PAWL_KERNELS_ENDED
                                                                : PAWL_KERNELS_GO_ON;
}

// ---- positions and rates after the smooth motion ------------------------------------------------
// The residual of the guess is 0 to the bit, and with it the correction.                    (A26)
PAWL_INLINE int pawl_kernels_is_nothing(PawlKernelsShape of, PawlKernelsGa* g) {
  int nothing = 1;
  pawl_kernels_ga_residual(of, g);
  for (int j = 0; j < of.n; j++) {
    nothing &= g->dq[j] == 0.0;
  }
  return nothing;
}

// Whether dW is small for each rate, or for the largest in the metric of the masses (pawl_ga_part).
PAWL_INLINE int pawl_kernels_is_last(PawlKernelsShape of, const PawlKernelsGa* g) {
  double own[PAWL_KERNELS_MOST], most = 0.0;
  int last = 1;
  for (int j = 0; j < of.n; j++) {
    double M = of.diagonal[j] >= 0 ? g->M[of.diagonal[j]] : 0.0;
    own[j] = M * g->v_total[j] * g->v_total[j];
    most = own[j] > most ? own[j] : most;
  }
  for (int j = 0; j < of.n; j++) {
    double M = of.diagonal[j] >= 0 ? g->M[of.diagonal[j]] : 0.0, least = g->lost * most;
    double size = own[j] > least ? own[j] : least;
    last &= M * g->dW[j] * g->dW[j] <= g->settled * g->settled * size;
  }
  return last;
}

// U, where rows of positions are off.                                                   (N6) (N35)
PAWL_INLINE PawlKernelsEnd pawl_kernels_pvv_positions(PawlKernelsShape of, PawlKernelsGa* g,
                                                      PawlKernelsEvaluateGa* evaluate) {
  double of_q[PAWL_KERNELS_MOST];
  pawl_kernels_zeros(of.n, g->dU);
  g->corrected_U = pawl_kernels_correct_level(of, g, g->g, g->dU, g->U, g->nu);
  for (int j = 0; j < of.n; j++) {
    g->q_total[j] = g->q[j] + g->U[j];
  }
  if (g->corrected_U != 2) {
    return g->corrected_U ? PAWL_KERNELS_ENDED : PAWL_KERNELS_UNUSUAL;
  }
  g->evaluations++;
  if (evaluate(g) != 0.0) {
    return PAWL_KERNELS_UNUSUAL;
  }
  if (!pawl_kernels_are_apart(g)) {
    return PAWL_KERNELS_CLOSES;
  }
  pawl_kernels_zeros(of.rows, of_q);
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double q = fabs(g->q[j]);
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      of_q[of.G.index[k]] += fabs(PAWL_KERNELS_ENTRY(g->grad[k])) * q;
    }
  }
  return pawl_kernels_hold(of, g, g->g, of_q, g->settled) ? PAWL_KERNELS_ENDED
                                                          : PAWL_KERNELS_UNUSUAL;
}

// A correction of W and Lambda from what they are; `f` are the forces of the smooth motion, NULL
// where nothing was corrected yet.                                                       (N7) (N9)
PAWL_INLINE int pawl_kernels_pvv_rates(PawlKernelsShape of, PawlKernelsGa* g, const double* f) {
  double dy[PAWL_KERNELS_MOST];
  pawl_kernels_rows(of, g, g->v_total, g->g_t, g->rate);
  if (!f) {
    pawl_kernels_zeros(of.n, g->dW);
    return pawl_kernels_correct_level(of, g, g->rate, g->dW, g->W, g->Lambda);
  }
  for (int j = 0; j < of.n; j++) {
    g->dW[j] = g->h * (g->f[j] - f[j]);
  }
  pawl_kernels_add_H(of, g, g->M, -1.0, g->W, g->dW);
  PAWL_KERNELS_WRITTEN_OUT
  for (int j = 0; j < of.n; j++) {
    double sum = 0.0;
    for (int k = of.G.start[j]; k < of.G.start[j + 1]; k++) {
      sum += PAWL_KERNELS_ENTRY(g->grad[k]) * g->Lambda[of.G.index[k]];
    }
    g->dW[j] += sum;
  }
  int corrected = pawl_kernels_correct_level(of, g, g->rate, g->dW, g->W, dy);
  for (int i = 0; i < of.rows; i++) {
    g->Lambda[i] += dy[i];
  }
  return corrected;
}

// Steps of nsga-pvv with constant tangents and no row in the smooth motion, which the guess ends:
// nothing of it is changed where it is not as usual.
PAWL_INLINE PawlKernelsEnd pawl_kernels_pvv(PawlKernelsShape of, PawlKernelsGa* g,
                                            PawlKernelsEvaluateGa* evaluate) {
  double f[PAWL_KERNELS_MOST];
  g->factored_M = g->solved = 0;
  g->evaluations = 1;
  for (int i = 0; i < of.n; i++) {
    g->q_total[i] = g->q[i];
    g->v_total[i] = g->v[i];
  }
  if (evaluate(g) != 0.0 || !pawl_kernels_is_nothing(of, g)) {
    return PAWL_KERNELS_UNUSUAL;
  }
  if (!pawl_kernels_are_apart(g)) {
    return PAWL_KERNELS_CLOSES;
  }
  for (int i = 0; i < of.n; i++) {
    f[i] = pawl_sized_alone(g->f[i]);
  }
  PawlKernelsEnd end = pawl_kernels_pvv_positions(of, g, evaluate);
  if (end != PAWL_KERNELS_ENDED) {
    return end;
  }
  for (int i = 0; i < of.n; i++) {
    g->v_total[i] = g->v[i] + 0.0;
  }
  g->corrected_W = pawl_kernels_pvv_rates(of, g, g->corrected_U == 2 ? f : 0);
  for (int k = 0; k < 2 && g->corrected_W == 2; k++) {
    for (int i = 0; i < of.n; i++) {
      g->v_total[i] = g->v[i] + g->W[i];
    }
    if (pawl_kernels_is_last(of, g)) {
      return PAWL_KERNELS_ENDED;
    }
    g->evaluations += k == 0;
    if (k > 0 || evaluate(g) != 0.0) {
      return PAWL_KERNELS_UNUSUAL;
    }
    g->corrected_W = pawl_kernels_pvv_rates(of, g, f);
  }
  return g->corrected_W ? PAWL_KERNELS_ENDED : PAWL_KERNELS_UNUSUAL;
}

// ---- the state ----------------------------------------------------------------------------------
PAWL_INLINE double pawl_kernels_flushed(const PawlKernelsGa* g, double x) {
  return fabs(x) > g->flushed ? x : 0.0;
}

// The iterate becomes the state, eta goes on (N12), and impulses of a step that is taken as a whole
// are kept.
PAWL_INLINE void pawl_kernels_pva_take(PawlKernelsShape of, PawlKernelsGa* g) {
  for (int i = 0; i < of.n; i++) {
    g->q_n[i] = pawl_sized_alone(g->q[i]);
    g->last_vdot[i] = pawl_kernels_flushed(g, pawl_sized_alone(g->vdot_n[i]));
    g->v_n[i] = pawl_kernels_flushed(g, pawl_sized_alone(g->v_total[i]));
    g->vdot_n[i] = pawl_kernels_flushed(g, pawl_sized_alone(g->vdot[i]));
    g->a_n[i] = pawl_kernels_flushed(g, pawl_sized_alone(g->a[i]));
  }
  double alpha_m = g->alpha_m, alpha_f = g->alpha_f;
  for (int i = 0; i < of.rows; i++) {
    double eta = ((1 - alpha_f) * g->lambda[i] + alpha_f * g->lambda_n[i] - alpha_m * g->eta_n[i]) /
                 (1 - alpha_m);
    g->lambda[i] = pawl_kernels_flushed(g, g->lambda[i]);
    g->eta_n[i] = pawl_kernels_flushed(g, eta);
    g->last_lambda[i] = pawl_kernels_flushed(g, g->lambda_n[i]);
    g->lambda_n[i] = g->lambda[i];
    g->Lambda_n[i] = pawl_kernels_flushed(g, g->Lambda[i]);
    g->nu_n[i] = pawl_kernels_flushed(g, g->nu[i]);
  }
}

PAWL_INLINE void pawl_kernels_pvv_take(PawlKernelsShape of, PawlKernelsGa* g) {
  for (int i = 0; i < of.n; i++) {
    g->q_n[i] = pawl_sized_alone(g->q_total[i]);
    g->last_vdot[i] = pawl_sized_alone(g->vdot_n[i]);
    g->v_n[i] = pawl_sized_alone(g->v_total[i]);
    g->vdot_n[i] = pawl_sized_alone(g->vdot[i]);
    g->a_n[i] = pawl_sized_alone(g->a[i]);
  }
  for (int i = 0; i < of.rows; i++) {
    g->last_lambda[i] = g->lambda_n[i];
    g->lambda_n[i] = g->lambda[i];
    g->Lambda_n[i] = g->Lambda[i];
    g->nu_n[i] = g->nu[i];
  }
}

// Steps as functions of a module: the guess with its place, the iteration, the state.
typedef struct PawlKernelsGaSteps {
  void (*guess)(PawlKernelsGa* g);  // NULL: there are none
  PawlKernelsEnd (*iterate)(PawlKernelsGa* g);
  void (*take)(PawlKernelsGa* g);
} PawlKernelsGaSteps;
