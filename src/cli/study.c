// SPDX-License-Identifier: Apache-2.0
// Runs that are kept whole, for compare, converge and reproduce.
#include "cli/study.h"

#include <math.h>
#include <string.h>

// ---- the model under study ----------------------------------------------------------------------
bool study_has_switches(const PawlSystem* system) {
  int rows = pawl_system_sizes(system).rows;
  for (int i = 0; i < rows; i++) {
    if (pawl_system_row_switches(system, i) ||
        pawl_system_row_kind(system, i) == PAWL_ROW_CONTACT) {
      return true;
    }
  }
  return false;
}

int study_open(const Arguments* arguments, Study* out) {
  PawlError err = {0};
  *out = (Study){.project = arguments->project, .keep = arguments->keep};
  out->model = load_model(arguments, &err);
  if (!out->model || pawl_system_create(out->model, &out->system, &err) != PAWL_OK) {
    return report_error(&err);
  }
  return simulate_def(arguments, out->model, &out->def);
}

void study_close(Study* study) {
  pawl_system_destroy(study->system);
  pawl_model_destroy(study->model);
}

int study_take_option(int* argc, char** argv, const char* name, const char** value) {
  size_t length = strlen(name);
  int kept = 0;
  for (int k = 0; k < *argc; k++) {
    bool equals = strncmp(argv[k], name, length) == 0 && argv[k][length] == '=';
    if (equals) {
      *value = argv[k] + length + 1;
    } else if (strcmp(argv[k], name) == 0) {
      if (k + 1 == *argc) {
        return complain(EXIT_USAGE, "a value is missing behind '%s'", name);
      }
      *value = argv[++k];
    } else {
      argv[kept++] = argv[k];
    }
  }
  *argc = kept;
  return 0;
}

void study_set_method(PawlSimulateDef* def, char* text) {
  char* colon = strchr(text, ':');
  def->method = text;
  if (colon) {
    *colon = '\0';
    def->smooth = colon + 1;
  }
}

int study_split(char* text, char separator, int most, char** parts) {
  int count = 0;
  for (char* at = text; at;) {
    char* next = strchr(at, separator);
    if (next) {
      *next++ = '\0';
    }
    if (count == most) {
      return -1;
    }
    parts[count++] = at;
    at = next;
  }
  return count;
}

// "event-driven:ga-p" is one, too.
static bool is_method(const char* name) {
  char first[64];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ":"), name);
  return strcmp(first, "auto") == 0 || pawl_method_find(first);
}

int study_methods(char* list, char** names) {
  int count = 0;
  for (int k = 0; !list && pawl_method(k) && count < MOST_METHODS; k++) {
    names[count++] = (char*)pawl_method(k)->name;
  }
  count = list ? study_split(list, ',', MOST_METHODS, names) : count;
  if (count < 0) {
    return complain(-1, "--methods: more than %d", MOST_METHODS);
  }
  for (int k = 0; k < count; k++) {
    if (!is_method(names[k])) {
      return complain(-1, "unknown method '%s'; pawl run --help lists the methods", names[k]);
    }
  }
  return count;
}

// ---- runs ---------------------------------------------------------------------------------------
PawlStatus study_run(const PawlSystem* system, const PawlSimulateDef* def, StudyRun* out) {
  PawlSimDef sim = pawl_sim_def_default();
  sim.simulate = *def;
  sim.keep_samples = true;
  sim.project = out->project;
  sim.keep = out->keep;
  out->system = system;
  sim.corrections = out->corrections;
  out->err = (PawlError){0};
  out->status = pawl_sim_create(system, &sim, &out->sim, &out->err);
  if (out->status == PAWL_OK) {
    out->status = pawl_sim_run(out->sim, NULL, NULL, &out->err);
  }
  return out->status;
}

void study_run_destroy(StudyRun* run) {
  pawl_sim_destroy(run->sim);
  run->sim = NULL;
}

double study_seconds_per_step(const Study* study, const PawlSimulateDef* def) {
  enum { REPEATS = 3 };
  static const double LONG_ENOUGH = 0.2;  // [s] a run as long as this is not repeated
  PawlSimDef sim_def = pawl_sim_def_default();
  sim_def.simulate = *def;
  sim_def.simulate.record = def->until;
  sim_def.keep_samples = false;
  sim_def.project = study->project;
  sim_def.keep = study->keep;
  double best = INFINITY;
  for (int k = 0; k < REPEATS; k++) {
    PawlSim* sim;
    if (pawl_sim_create(study->system, &sim_def, &sim, NULL) != PAWL_OK) {
      break;
    }
    PawlStatus status = pawl_sim_run(sim, NULL, NULL, NULL);
    PawlSummary s = pawl_sim_summary(sim);
    pawl_sim_destroy(sim);
    if (status != PAWL_OK || s.work.steps == 0) {
      break;
    }
    best = fmin(best, s.wall_seconds / (double)s.work.steps);
    if (s.wall_seconds > LONG_ENOUGH) {
      break;
    }
  }
  return best;
}

// ---- what a recorder holds ----------------------------------------------------------------------
int study_columns(const PawlRecorder* recorder, PawlColumnKind kind, int* first) {
  int count = 0;
  for (int c = 0; c < pawl_recorder_column_count(recorder); c++) {
    if (pawl_recorder_column(recorder, c)->kind == kind) {
      *first = count++ ? *first : c;
    }
  }
  return count;
}

int study_column(const PawlRecorder* recorder, const char* name) {
  for (int c = 0; c < pawl_recorder_column_count(recorder); c++) {
    if (strcmp(pawl_recorder_column(recorder, c)->name, name) == 0) {
      return c;
    }
  }
  return -1;
}

double study_sample_time(const PawlRecorder* recorder, int sample) {
  return pawl_recorder_sample(recorder, sample)[0];
}

bool study_switched(const PawlRecorder* recorder, int sample, int* event) {
  double begin = study_sample_time(recorder, sample - 1), end = study_sample_time(recorder, sample);
  double slack = STUDY_SAME_TIME * end;
  bool found = false;
  const PawlEvent* e;
  while ((e = pawl_recorder_event(recorder, *event)) && e->t <= end + slack) {
    found = found || e->t > begin + slack;
    (*event)++;
  }
  return found;
}

// Sums of the first and second differences of one column, and its largest value. A multiplier is
// an impulse over h in the step of a switch, so the step after it is left out too.
typedef struct Variation {
  double first, second, largest;
} Variation;

static Variation column_variation(const PawlRecorder* recorder, int column, double from) {
  Variation out = {0.0, 0.0, 0.0};
  double last = 0.0, last_change = NAN;
  int event = 0;
  bool after = false;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    double x = pawl_recorder_sample(recorder, k)[column];
    bool switched = k > 0 && study_switched(recorder, k, &event);
    out.largest = fmax(out.largest, fabs(x));
    if (k == 0 || switched || after || study_sample_time(recorder, k - 1) < from) {
      last_change = NAN;
    } else {
      double change = x - last;
      out.first += fabs(change);
      out.second += isnan(last_change) ? 0.0 : fabs(change - last_change);
      last_change = change;
    }
    after = switched;
    last = x;
  }
  return out;
}

// The largest impulse as a force over one step, so that the rounding of multipliers that are zero
// but for impulses is not taken for an oscillation.
static double impulsive_force(const PawlRecorder* recorder) {
  int samples = pawl_recorder_sample_count(recorder);
  double step = study_sample_time(recorder, samples - 1) / (samples > 1 ? samples - 1 : 1);
  double largest = 0.0;
  const PawlEvent* e;
  for (int k = 0; (e = pawl_recorder_event(recorder, k)); k++) {
    for (int i = 0; i < e->row_count; i++) {
      largest = fmax(largest, fabs(e->impulse[i]));
    }
  }
  return step > 0.0 ? largest / step : 0.0;
}

static double oscillation(Variation v) {
  static const double SMALLEST_VARIATION = 1e-8;  // of the largest value; less counts as this
  double variation = fmax(v.first, SMALLEST_VARIATION * v.largest);
  return variation > 0.0 ? v.second / variation : 0.0;
}

double study_column_oscillation(const PawlRecorder* recorder, int column, double from) {
  return oscillation(column_variation(recorder, column, from));
}

double study_oscillation(const PawlRecorder* recorder, PawlColumnKind kind, double from) {
  int begin = 0, count = study_columns(recorder, kind, &begin);
  Variation most = {0.0, 0.0, 0.0};
  if (kind == PAWL_COLUMN_MULTIPLIER) {
    most.largest = impulsive_force(recorder);
  }
  for (int c = 0; c < count; c++) {
    Variation v = column_variation(recorder, begin + c, from);
    most.first = fmax(most.first, v.first);
    most.second = fmax(most.second, v.second);
    most.largest = fmax(most.largest, v.largest);
  }
  return oscillation(most);
}

double study_largest(const PawlRecorder* recorder, int column, double from) {
  double largest = 0.0;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    const double* sample = pawl_recorder_sample(recorder, k);
    largest = sample[0] >= from ? fmax(largest, fabs(sample[column])) : largest;
  }
  return largest;
}
