// SPDX-License-Identifier: Apache-2.0
// pawl run: the summary for people, and what they should know of a run that ended well.
#include <math.h>
#include <string.h>

#include "cli/run.h"

static const double GAIN_WORTH_A_WARNING = 1e-2;  // of what was moved

// The methods that follow switches, but for `method`.
static const char* others_that_follow(const char* method) {
  return strcmp(method, "event-driven") == 0 ? "nsga-pva and nsga-pvv"
         : strcmp(method, "nsga-pva") == 0   ? "event-driven and nsga-pvv"
         : strcmp(method, "nsga-pvv") == 0   ? "event-driven and nsga-pva"
                                             : "event-driven, nsga-pva and nsga-pvv";
}

// Whether a method has made energy at switches that no law makes, into `text`.
static bool switches_gain(const PawlSim* sim, double moved, char* text, size_t room) {
  const char* constraint;
  double gain = pawl_sim_stray_gain(sim, &constraint);
  const char* method = pawl_stepper_def(pawl_sim_stepper(sim))->method;
  if (!constraint || gain <= GAIN_WORTH_A_WARNING * moved) {
    return false;
  }
  snprintf(text, room,
           "switches of constraint '%.100s' have put %.4g J into the motion, which its impact law "
           "does not: %s does not follow it there; %s do",
           constraint, gain, method, others_that_follow(method));
  return true;
}

// Whether an impact law has made energy that is worth a warning, into `text`.
static bool law_gains(const PawlSim* sim, double moved, char* text, size_t room) {
  const char* constraint;
  double gain = pawl_sim_law_gain(sim, &constraint);
  if (!constraint || gain <= GAIN_WORTH_A_WARNING * moved) {
    return false;
  }
  snprintf(
      text, room,
      "jumps of constraint '%.100s' have put %.4g J into the motion: its impact law pushes along "
      "the gradient that was, which can make energy; bisector keeps it, and post loses some",
      constraint, gain);
  return true;
}

const char* run_warning(const PawlSim* sim, int index) {
  static const double DRIFT_WORTH_A_WARNING = 1e-3, VELOCITY_DRIFT_WORTH_A_WARNING = 1e-2;
  static char text[400], stray[400];
  PawlSummary s = pawl_sim_summary(sim);
  const char* list[8];
  int count = 0;
  if (law_gains(sim, s.energy_moved, text, sizeof text)) {
    list[count++] = text;
  }
  if (switches_gain(sim, s.energy_moved, stray, sizeof stray)) {
    list[count++] = stray;
  }
  if (pawl_sim_warning(sim)[0]) {
    list[count++] = pawl_sim_warning(sim);
  }
  if (s.drift > DRIFT_WORTH_A_WARNING) {
    list[count++] =
        "positions have drifted off the constraints by more than 0.1%; a smaller step, or a "
        "method that holds positions, helps";
  }
  if (s.velocity_drift > VELOCITY_DRIFT_WORTH_A_WARNING) {
    list[count++] =
        "velocities violate the constraints by more than 1%: expected right after a switch "
        "with ga-p or ga-a, else a sign that the step is too large";
  }
  if (pawl_sim_energy_drifts(sim) && !pawl_sim_works_unknown(sim)) {  // else it says nothing
    const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
    list[count++] = strstr(pawl_sim_warning(sim), "energy leaps by")
                        ? "the energy drifts by more than the works explain: the leaps named above "
                          "are in it, and smaller steps or tolerances do not change them"
                    : pawl_method_uses(def, "rtol")
                        ? "the energy drifts by more than the works and the tolerances explain; "
                          "smaller rtol and atol, or another method, help"
                        : "the energy drifts by more than 1% of what the run has moved, and no "
                          "work explains it; a smaller step, or a method of higher order, helps";
  }
  if (pawl_sim_works_unknown(sim)) {
    list[count++] =
        "the steps are too coarse to know the works: their integrals may be wrong by more than "
        "the energy is allowed to drift, and so the motion between the steps; a smaller step helps";
  }
  return index < count ? list[index] : NULL;
}

void run_print_warnings(const PawlSim* sim) {
  for (int k = 0; run_warning(sim, k); k++) {
    warn(run_warning(sim, k));
  }
}

static void print_state(const PawlSystem* system, const PawlState* state) {
  enum { MOST_SHOWN = 8 };
  PawlSizes n = pawl_system_sizes(system);
  fprintf(stderr, "at t = %.10g:", state->t);
  for (int k = 0; k < n.q && k < MOST_SHOWN; k++) {
    bool is_state = k >= n.q - n.states;
    fprintf(stderr, "%s %s = %.9g", k ? "," : "", pawl_system_coordinate_name(system, k),
            is_state ? state->v[k - n.q + n.v] : state->q[k]);
  }
  fprintf(stderr, "%s\n", n.q > MOST_SHOWN ? ", ..." : "");
}

// Events from k on to `end` that lead to the same, as "table_1, table_2 and 3 more open"; how many.
static int print_alike(const PawlRecorder* recorder, int k, int end) {
  enum { MOST_NAMES = 2 };
  const char* to = pawl_recorder_event(recorder, k)->to;
  int alike = 0;
  for (; k + alike < end; alike++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k + alike);
    if (strcmp(e->to, to) != 0) {
      break;
    }
    if (alike < MOST_NAMES) {
      fprintf(stderr, "%s%s", alike ? ", " : "", e->constraint);
    }
  }
  if (alike > MOST_NAMES) {
    fprintf(stderr, " and %d more", alike - MOST_NAMES);
  }
  fprintf(stderr, " %s", to);
  return alike;
}

// All that happens at the instant of event k, and what the motion loses there: of one jump, in
// which one constraint may give what another takes, or what a drive brings in. Returns the next
// instant's.
static int print_instant(const PawlRecorder* recorder, int k, double size) {
  double t = pawl_recorder_event(recorder, k)->t, lost = 0.0;
  int end = k;
  for (; end < pawl_recorder_event_count(recorder); end++) {
    const PawlEvent* e = pawl_recorder_event(recorder, end);
    if (e->t != t) {
      break;
    }
    lost += e->energy_lost;
  }
  while (k < end) {
    k += print_alike(recorder, k, end);
    fprintf(stderr, "%s", k < end ? " and " : "");
  }
  fprintf(stderr, " at %.6g s", t);
  if (fabs(lost) > 1e-9 * size) {
    fprintf(stderr, " (%.4g J %s)", fabs(lost), lost > 0 ? "lost" : "gained");
  }
  return end;
}

// "pair[1], pair[2] and 2 more hit at 0.2 s (0.1 J lost), rest stick at 0.3 s, and 5 more; ..."
static void print_events(const PawlRecorder* recorder, double size) {
  enum { MOST_SHOWN = 3 };
  int count = pawl_recorder_event_count(recorder), k = 0;
  for (int shown = 0; k < count && shown < MOST_SHOWN; shown++) {
    fprintf(stderr, "%s", k ? ", " : "");
    k = print_instant(recorder, k, size);
  }
  if (count > k) {
    fprintf(stderr, ", and %d more; --json lists all", count - k);
  }
  fprintf(stderr, "%s", count ? "\n" : "");
}

const char* const run_work_names[] = {
    [PAWL_WORK_FORCES] = "forces",     [PAWL_WORK_DISSIPATION] = "dissipation",
    [PAWL_WORK_FRICTION] = "friction", [PAWL_WORK_DRIVES] = "drives",
    [PAWL_WORK_TIME] = "time",         [PAWL_WORK_JUMPS] = "jumps"};

// "energy 4 J -> 1 J: dissipation -2 J, jumps -1 J; largest drift 1e-9 J"
static void print_energy(const PawlSim* sim, const PawlSummary* s) {
  const char* before = ": ";
  fprintf(stderr, "energy %.10g J -> %.10g J", s->energy_start, s->energy_end);
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    if (pawl_stepper_has_work(pawl_sim_stepper(sim), (PawlWork)k)) {
      fprintf(stderr, "%s%s %.7g J", before, run_work_names[k], s->works[k]);
      before = ", ";
    }
  }
  fprintf(stderr, "; largest drift %.3g J\n", s->energy_max_drift);
}

void run_print_summary(const PawlSystem* system, const PawlSim* sim) {
  PawlSummary s = pawl_sim_summary(sim);
  const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
  fprintf(stderr, "%s: %s, %lld steps of %g s to t = %.10g s in %.3g s (%.3g us per step)\n",
          pawl_system_name(system), def->method, s.work.steps, def->step, s.t, s.wall_seconds,
          s.work.steps ? 1e6 * s.wall_seconds / (double)s.work.steps : 0.0);
  if (s.smaller_steps) {
    fprintf(stderr,
            "%lld steps did not converge, or passed a contact, and were taken in smaller "
            "pieces\n",
            s.smaller_steps);
  }
  if (s.work.kinks) {
    fprintf(stderr, "%lld step%s ended at a kink\n", s.work.kinks, s.work.kinks == 1 ? "" : "s");
  }
  print_events(pawl_sim_recorder(sim),
               fabs(s.energy_start) + fabs(s.energy_end) + s.energy_max_drift);
  print_state(system, pawl_sim_state(sim));
  print_energy(sim, &s);
  if (pawl_system_sizes(system).rows > 0) {
    fprintf(stderr, "largest residuals: position %.2g, velocity %.2g, acceleration %.2g\n",
            s.residual[0], s.residual[1], s.residual[2]);
  }
  if (run_rubs(system)) {
    fprintf(stderr, "friction of contacts: cones met to %.2g", s.work.cones);
    if (s.work.relaxed + s.work.swept > 0) {
      fprintf(stderr, "; %lld steps relaxed, %lld by sweeps", s.work.relaxed, s.work.swept);
    }
    fprintf(stderr, "\n");
  }
}
