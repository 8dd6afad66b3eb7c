// SPDX-License-Identifier: Apache-2.0
// The inner loops of the methods, once: inline code whose sizes are arguments. The library compiles
// a loop for any size, and with PAWL_SIZED again for each small one, a constant then, so that
// nothing is left of the loop; a module of compiled C (compiled.h) has this text, too, and compiles
// it for the sizes of its model, with the equations inside. The operations and their order do not
// depend on it: the bits are the same. Arrays do not overlap unless a comment says so.
//
// Plain C that needs nothing but the two headers below.
#pragma once

#include "base/sized.h"
#include "linalg/kkt_direct.h"

// A module has the equations and the linear system inside, in one place of its code; the library
// calls them, and writes out what it knows of each stage.
#if !defined(PAWL_KERNELS_IN_MODULE) && defined(__GNUC__) && !defined(__clang__)
#define PAWL_KERNELS_STAGES _Pragma("GCC unroll 4")
#else
#define PAWL_KERNELS_STAGES
#endif

PAWL_INLINE void pawl_kernels_copy(int n, const double* from, double* to) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    to[i] = pawl_sized_alone(from[i]);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    to[i] = from[i];
  }
}

// A stage of an explicit method with rate k: it is added to the sum of stages, and the next one
// begins at y + to_next k. `before` is the sum so far and may be `sum`; `next` may be k.     (R2)
PAWL_INLINE void pawl_kernels_stage_one(int i, const double* y, double rate, double weight,
                                        double to_next, const double* before, double* sum,
                                        double* next) {
  sum[i] = before[i] + weight * rate;
  next[i] = y[i] + to_next * rate;
}
PAWL_INLINE void pawl_kernels_stage(int n, const double* y, const double* k, double weight,
                                    double to_next, const double* before, double* sum,
                                    double* next) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    double rate = pawl_sized_alone(k[i]);
    pawl_kernels_stage_one(i, y, rate, weight, to_next, before, sum, next);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    pawl_kernels_stage_one(i, y, k[i], weight, to_next, before, sum, next);
  }
}

// The last stage, which nothing follows: the sum is where the step ends.
PAWL_INLINE void pawl_kernels_last_stage(int n, const double* k, double weight, const double* sum,
                                         double* end) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    end[i] = sum[i] + weight * pawl_sized_alone(k[i]);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    end[i] = sum[i] + weight * k[i];
  }
}

// The right side of the rows: -gamma where they bind (`active` NULL: all do), else 0.
PAWL_INLINE void pawl_kernels_bias(int rows, const unsigned char* active, const double* gamma,
                                   double* lambda) {
  for (int i = 0; i < rows; i++) {
    lambda[i] = !active || active[i] ? -gamma[i] : 0.0;
  }
}

// ---- accelerations ------------------------------------------------------------------------------
// The equations at a point (t, q, v), whose numbers change and whose places do not.
typedef struct PawlKernelsPoint {
  double* t;
  const double *M, *f, *G, *gamma;  // written by the evaluation
  const unsigned char* active;      // rows that bind; NULL: all
  int still;                        // none of these numbers changes from stage to stage
  // One program that writes all of them: see PawlTapeWhole.
  double* registers;
  const double* const* from;
  double* const* to;
  PawlKktDirect kkt;
} PawlKernelsPoint;

// 0, or NaN where a value is not finite.
typedef double PawlKernelsEvaluate(const PawlKernelsPoint* at);

// [M -G^T; G 0] [a; lambda] = [f; -gamma] at time t for n velocities. 0: something is not as usual.
PAWL_INLINE int pawl_kernels_accelerate(int n, int rows, const PawlKernelsPoint* at,
                                        PawlKernelsEvaluate* evaluate, double t, double* a,
                                        double* lambda) {
  *at->t = t;
  const PawlKktDirect* kkt = &at->kkt;
  if (evaluate(at) != 0.0 || (kkt->factor && !pawl_kkt_direct_factor(kkt, at->M, at->G, at->G))) {
    return 0;
  }
  pawl_kernels_copy(n, at->f, a);
  pawl_kernels_bias(rows, at->active, at->gamma, lambda);
  pawl_kkt_direct_solve(kkt, a, lambda);
  return 1;
}

// ---- rk4 ----------------------------------------------------------------------------------------
typedef struct PawlKernelsRk4 {
  double t, h;
  double *q_n, *v_n, *a_n, *lambda_n;  // the state, which the end of the step replaces
  double *q, *v;                       // those of the point
  double *a, *lambda;                  // of a stage
  double *sum_q, *sum_v;
  int held;  // rows bind: the sums of all stages are left, and the rest to others
} PawlKernelsRk4;

// A step of the classical Runge-Kutta method for n coordinates that are numbers. 0: something is
// not as usual, and the state is as before.                                                 (R2)
PAWL_INLINE int pawl_kernels_rk4(int n, int rows, const PawlKernelsPoint* at,
                                 PawlKernelsEvaluate* evaluate, const PawlKernelsRk4* s) {
  const double third = 1.0 / 3, sixth = 1.0 / 6, t = s->t, h = s->h;
  const double *q_n = s->q_n, *v_n = s->v_n;
  double *q = s->q, *v = s->v, *a = s->a, *sum_q = s->sum_q, *sum_v = s->sum_v;
  pawl_kernels_stage(n, q_n, v_n, h * sixth, h * 0.5, q_n, sum_q, q);
  pawl_kernels_stage(n, v_n, s->a_n, h * sixth, h * 0.5, v_n, sum_v, v);
  PAWL_KERNELS_STAGES
  for (int i = 1; i <= 4; i++) {  // the last at the end of the step
    double to_next = i == 1 ? h * 0.5 : h;
    if (!(i > 1 && at->still) &&
        !pawl_kernels_accelerate(n, rows, at, evaluate, i < 3 ? t + h * 0.5 : t + h, a,
                                 s->lambda)) {
      return 0;
    }
    if (i < 3) {
      pawl_kernels_stage(n, q_n, v, h * third, to_next, sum_q, sum_q, q);
      pawl_kernels_stage(n, v_n, a, h * third, to_next, sum_v, sum_v, v);
    } else if (i == 3) {
      pawl_kernels_last_stage(n, v, h * sixth, sum_q, s->held ? sum_q : q);
      pawl_kernels_last_stage(n, a, h * sixth, sum_v, s->held ? sum_v : v);
      if (s->held) {
        return 1;
      }
    }
  }
  pawl_kernels_copy(n, q, s->q_n);
  pawl_kernels_copy(n, v, s->v_n);
  pawl_kernels_copy(n, a, s->a_n);
  pawl_kernels_copy(rows, s->lambda, s->lambda_n);
  return 1;
}

// The sums of all stages where a of the stages is known, the same at all places.
PAWL_INLINE void pawl_kernels_rk4_still(int n, const PawlKernelsRk4* s) {
  const double third = 1.0 / 3, sixth = 1.0 / 6, h = s->h;
  for (int i = 0; i < n; i++) {
    double v_n = s->v_n[i], a_n = s->a_n[i], a = s->a[i];
    double v_1 = v_n + h * 0.5 * a_n, v_2 = v_n + h * 0.5 * a, v_3 = v_n + h * a;
    double q = s->q_n[i] + h * sixth * v_n, v = v_n + h * sixth * a_n;
    q = q + h * third * v_1;
    v = v + h * third * a;
    q = q + h * third * v_2;
    v = v + h * third * a;
    s->sum_q[i] = q + h * sixth * v_3;
    s->sum_v[i] = v + h * sixth * a;
  }
}

// Such a step as a function of a module.
typedef int PawlKernelsStep(const PawlKernelsPoint* at, const PawlKernelsRk4* s);
