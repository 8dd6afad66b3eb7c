// SPDX-License-Identifier: Apache-2.0
// See ida_history.h. Here the record of IDA is read and written by the names of ida/ida_impl.h, a
// header that SUNDIALS 6 installs. Kept is what IDAStep and IDASolve of version 6 carry from one
// step to the next: times, orders, step sizes, coefficients, differences.
#ifdef PAWL_WITH_SUNDIALS

#include "step/ida_history.h"

#include <ida/ida_impl.h>
#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

_Static_assert(MXORDP1 == PAWL_IDA_DIFFERENCES, "IDA keeps as many differences as we do");

// The plain numbers, in the order of `memory`.
typedef struct Numbers {
  double t, h, h_used, cj, cj_last;
  double order, order_used, order_new, phase, equal_steps;
  double psi[MXORDP1], alpha[MXORDP1], beta[MXORDP1], sigma[MXORDP1], gamma[MXORDP1];
} Numbers;

_Static_assert(sizeof(Numbers) == PAWL_IDA_NUMBERS * sizeof(double), "one double after another");

bool pawl_ida_history_save(void* solver, int unknowns, double t, double* memory) {
  IDAMem ida = solver;
  if (ida->ida_tn != t || ida->ida_nst < 1) {
    return false;
  }
  Numbers x = {.t = ida->ida_tn,
               .h = ida->ida_hh,
               .h_used = ida->ida_hused,
               .cj = ida->ida_cj,
               .cj_last = ida->ida_cjlast,
               .order = ida->ida_kk,
               .order_used = ida->ida_kused,
               .order_new = ida->ida_knew,
               .phase = ida->ida_phase,
               .equal_steps = ida->ida_ns};
  memcpy(x.psi, ida->ida_psi, sizeof x.psi);
  memcpy(x.alpha, ida->ida_alpha, sizeof x.alpha);
  memcpy(x.beta, ida->ida_beta, sizeof x.beta);
  memcpy(x.sigma, ida->ida_sigma, sizeof x.sigma);
  memcpy(x.gamma, ida->ida_gamma, sizeof x.gamma);
  memcpy(memory, &x, sizeof x);
  for (int k = 0; k < MXORDP1; k++) {
    memcpy(memory + PAWL_IDA_NUMBERS + k * unknowns, N_VGetArrayPointer(ida->ida_phi[k]),
           (size_t)unknowns * sizeof(double));
  }
  return true;
}

static void load_numbers(IDAMem ida, const Numbers* x, double t) {
  ida->ida_tn = ida->ida_tretlast = ida->ida_tlo = t;
  ida->ida_hh = x->h;
  ida->ida_hused = x->h_used;
  ida->ida_cj = x->cj;
  ida->ida_cjlast = x->cj_last;
  ida->ida_cjold = 0.0;  // no Jacobian is good enough
  ida->ida_kk = (int)x->order;
  ida->ida_kused = (int)x->order_used;
  ida->ida_knew = (int)x->order_new;
  ida->ida_phase = (int)x->phase;
  ida->ida_ns = (int)x->equal_steps;
  memcpy(ida->ida_psi, x->psi, sizeof x->psi);
  memcpy(ida->ida_alpha, x->alpha, sizeof x->alpha);
  memcpy(ida->ida_beta, x->beta, sizeof x->beta);
  memcpy(ida->ida_sigma, x->sigma, sizeof x->sigma);
  memcpy(ida->ida_gamma, x->gamma, sizeof x->gamma);
}

int pawl_ida_history_load(void* solver, int unknowns, const double* memory, double t) {
  IDAMem ida = solver;
  Numbers x;
  memcpy(&x, memory, sizeof x);
  load_numbers(ida, &x, t);
  for (int k = 0; k < MXORDP1; k++) {
    memcpy(N_VGetArrayPointer(ida->ida_phi[k]), memory + PAWL_IDA_NUMBERS + k * unknowns,
           (size_t)unknowns * sizeof(double));
  }
  ida->ida_tstopset = SUNFALSE;
  ida->ida_irfnd = 0;
  ida->ida_nst = 1;  // no first step any more
  ida->ida_nni = 0;
  return ida->ida_nrtfn > 0
             ? ida->ida_gfun(t, ida->ida_phi[0], ida->ida_phi[1], ida->ida_glo, ida->ida_user_data)
             : 0;
}

double pawl_ida_history_time(const double* memory) {
  return memory[0];
}

const double* pawl_ida_history_unknowns(const double* memory) {
  return memory + PAWL_IDA_NUMBERS;
}

// IDA raises its order after some steps of the same size, bit for bit. A last step cut to fit would
// spoil that in every interval, and keep the order at 1 where intervals are short.
bool pawl_ida_pace(void* solver, double end) {
  IDAMem ida = solver;
  double left = end - ida->ida_tn;
  if (left <= PAWL_IDA_SAME_TIME * (fabs(end) + fabs(ida->ida_hh))) {  // as IDA treats its tstop
    ida->ida_tn = end;
    return true;
  }
  double count = fmax(1.0, ceil(left / ida->ida_hh - PAWL_WHOLE_STEPS)), h = left / count;
  double rounding = PAWL_SAME_TIME * (fabs(end) + h);  // of times
  ida->ida_hh = fabs(h - ida->ida_hused) <= rounding ? ida->ida_hused : h;
  return false;
}

#else
typedef int PawlIdaHistoryAbsent;  // a file must not be empty
#endif
