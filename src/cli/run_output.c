// SPDX-License-Identifier: Apache-2.0
// pawl run: the files of -o, written while the run goes on, and the pictures at its end.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/picture.h"
#include "cli/run.h"

// FILE.part of a run that was killed gives way to that of this run.
static void tell_of_part(const Arguments* a, const char* path) {
  char part[4096];
  int length = snprintf(part, sizeof part, "%s.part", path);
  bool there = length > 0 && length < (int)sizeof part && access(part, F_OK) == 0;
  if (there && !a->restart && !a->quiet) {
    fprintf(stderr, "%s is of a run that did not end; it is replaced\n", part);
  }
}

static int begin_report(const Arguments* a, const PawlModel* model, RunOutputs* out) {
  out->reports = true;
  int code = out->text ? 0 : model_text(a, &out->text);
  code = code ? code : report_begin(model, out->text, out->writers[out->count]);
  if (code) {
    pawl_writer_destroy(out->writers[out->count]);
  }
  return code;
}

int run_open_outputs(const Arguments* a, const PawlModel* model, RunOutputs* out) {
  PawlError err = {0};
  for (; out->count < a->output_count; out->count++) {
    const char* path = a->outputs[out->count];
    int format = run_format_of(path);
    bool report = format == PAWL_FORMAT_REPORT;
    tell_of_part(a, path);
    if (pawl_writer_create((PawlFormat)format, path, report ? NULL : a->columns,
                           &out->writers[out->count], &err) != PAWL_OK) {
      return report_error(&err);
    }
    int code = report ? begin_report(a, model, out) : 0;
    if (code) {
      return code;
    }
    if ((a->checkpoint || a->restart) &&
        pawl_writer_resumable(out->writers[out->count], &err) != PAWL_OK) {
      pawl_writer_destroy(out->writers[out->count]);
      return report_error(&err);
    }
  }
  return 0;
}

void run_destroy_outputs(RunOutputs* out) {
  for (int k = 0; k < out->count; k++) {
    pawl_writer_destroy(out->writers[k]);
  }
  free(out->text);
  free(out->summary);
}

PawlStatus run_write_sample(void* context, const PawlRecorder* recorder, const double* sample,
                            PawlError* err) {
  RunOutputs* out = context;
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && k < out->count; k++) {
    status = pawl_writer_add(out->writers[k], recorder, sample, err);
  }
  return status;
}

static int after_writing(PawlStatus status, const PawlError* err, const char* path, bool quiet) {
  if (status != PAWL_OK) {
    return report_error(err);
  }
  if (!quiet && strcmp(path, "-") != 0) {
    fprintf(stderr, "wrote %s\n", path);
  }
  return 0;
}

// All are tried, also when one fails.
int run_finish_outputs(const Arguments* a, const PawlSim* sim, RunOutputs* out, bool ended) {
  const PawlRecorder* recorder = pawl_sim_recorder(sim);
  int code = 0;
  for (int k = 0; k < out->count; k++) {
    PawlError err = {0};
    pawl_writer_summary(out->writers[k], out->summary, pawl_sim_state(sim));
    PawlStatus status = pawl_writer_finish(out->writers[k], recorder, &err);
    int failed = after_writing(status, &err, a->outputs[k], a->quiet);
    code = failed ? failed : code;
    if (!failed && ended) {
      pawl_writer_forget(out->writers[k]);
    }
  }
  if (a->plot) {
    PawlPlotDef def;
    int failed = plot_def(a, &def);
    failed = failed ? failed : plot_runs(&def, 1, &recorder, NULL, a->plot, a->quiet);
    code = failed ? failed : code;
  }
  if (a->animate) {
    int failed = motion_draw(a, out->model, recorder);
    code = failed ? failed : code;
  }
  return code;
}
