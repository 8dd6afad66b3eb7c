// SPDX-License-Identifier: Apache-2.0
// pawl run: the run itself with its progress, checkpoints and signals.
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "cli/run.h"

static volatile int interrupted;  // an int is read and written whole

static void on_signal(int signal) {
  (void)signal;
  interrupted = 1;
}

// A hang-up ends the run as Ctrl-C does, unless it is ignored on purpose (nohup).
const volatile int* run_catch_signals(void) {
  struct sigaction before;
  struct sigaction action = {.sa_handler = on_signal};
  action.sa_flags = (int)SA_RESETHAND;  // a second Ctrl-C ends the program at once
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, NULL);
  }
  return &interrupted;
}

typedef struct Progress {
  bool shown;
  int calls;
  double begin, last;
  // checkpoints
  const char* file;  // NULL without
  double every;      // [s]
  double next;       // time of the next one [s]
  double spent;      // on those so far [s of the clock]
  const PawlSim* sim;
  const RunOutputs* out;
  PawlError failed;  // of a checkpoint; ends the run
} Progress;

// The first multiple of --every behind t.
static double next_checkpoint(const Progress* p, double t) {
  return p->every * (floor(t / p->every) + 1.0);
}

// A checkpoint waits for the disk. The first second that they take is free; beyond it they may take
// a fifth of the run, and some that are due are left out.
static bool is_affordable(const Progress* p, double now) {
  static const double FREE = 1.0, SHARE = 0.2;
  return p->spent <= FREE + SHARE * (now - p->begin);
}

// An end needs no checkpoint: its results are complete.
static bool checkpoint_fails(Progress* p, double t) {
  if (!p->file || t < p->next || pawl_sim_ended(p->sim)) {
    return false;
  }
  p->next = next_checkpoint(p, t);
  double begin = seconds_now();
  if (!is_affordable(p, begin)) {
    return false;
  }
  PawlStatus status =
      pawl_checkpoint_write(p->file, p->sim, p->out->count, p->out->writers, &p->failed);
  p->spent += seconds_now() - begin;
  return status != PAWL_OK;
}

static int on_step(void* context, double t, double until) {
  enum { CALLS_BETWEEN_LOOKS = 16 };
  Progress* p = context;
  if (checkpoint_fails(p, t)) {
    return 1;
  }
  if (p->shown && ++p->calls % CALLS_BETWEEN_LOOKS == 0) {
    double now = seconds_now();
    if (now - p->last > 0.1 && now - p->begin > 0.5) {
      p->last = now;
      double left = (now - p->begin) * (until - t) / t;
      fprintf(stderr, "\r\033[Kt = %.4g of %.4g s, %.0f%%, %.0f s left", t, until, 100 * t / until,
              left);
    }
  }
  return interrupted;
}

PawlStatus run_to_end(const Arguments* a, PawlSim* sim, const RunOutputs* out, PawlError* err) {
  double now = seconds_now();
  Progress progress = {.shown = !a->quiet && isatty(STDERR_FILENO),
                       .begin = now,
                       .last = now,
                       .file = a->checkpoint,
                       .every = run_checkpoint_interval(a),
                       .sim = sim,
                       .out = out};
  progress.next = a->checkpoint ? next_checkpoint(&progress, pawl_sim_state(sim)->t) : 0.0;
  PawlStatus status = pawl_sim_run(sim, on_step, &progress, err);
  if (progress.shown) {
    fputs("\r\033[K", stderr);
  }
  if (status == PAWL_STOPPED && progress.failed.status != PAWL_OK) {
    *err = progress.failed;
    status = progress.failed.status;
  }
  return status;
}
