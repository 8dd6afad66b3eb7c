// SPDX-License-Identifier: Apache-2.0
// Writing what a run has seen, to files. A file appears whole or not at all: it is written beside
// its final name and renamed when complete. A trajectory can be written at once from a recorder
// that kept its samples, or sample by sample while the run goes on, in bounded memory.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"
#include "pawl/model.h"
#include "pawl/recorder.h"
#include "pawl/stepper.h"

#ifdef __cplusplus
extern "C" {
#endif

// Comma-separated values: one header line with the column names (quoted where they hold a comma),
// then one line a sample, each number as the shortest decimal that reads back to the same double.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_csv(const PawlRecorder* recorder, const char* path,
                                                PawlError* err);

// HDF5: /samples/<column> one dataset a column with the attributes "name", "unit" and "kind";
// /events with one dataset a field; the facts as attributes of the root. PAWL_ERROR_USAGE when the
// library was built without HDF5.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_hdf5(const PawlRecorder* recorder, const char* path,
                                                 PawlError* err);
PAWL_API bool pawl_has_hdf5(void);
// For programs, before anything else uses HDF5: it is not closed again when the program ends. All
// files of pawl are closed by then, and after running out of memory closing it is what crashes.
PAWL_API void pawl_hdf5_stay_open(void);

// ---- sample by sample -----------------------------------------------------------------------
typedef enum PawlFormat { PAWL_FORMAT_CSV, PAWL_FORMAT_HDF5, PAWL_FORMAT_REPORT } PawlFormat;
typedef struct PawlWriter PawlWriter;

// The formats by number: name ("CSV"), the k-th ending of its files (".csv"), whether this build
// writes it. NULL past the last.
PAWL_API const char* pawl_format_name(int format);
PAWL_API const char* pawl_format_ending(int format, int k);
PAWL_API bool pawl_format_exists(int format);
// The format of files with such a name; -1: none.
PAWL_API int pawl_format_of(const char* path);

// A writer for `path`, which it copies; the file is opened with the first sample. `columns` chooses
// what is written, in this order: names as in the header, with commas between them. A name without
// its row or index stands for all of them (lambda(pin), u). NULL: every column.
PAWL_API PAWL_CHECKED PawlStatus pawl_writer_create(PawlFormat format, const char* path,
                                                    const char* columns, PawlWriter** out,
                                                    PawlError* err);
// True when such a list names a correction (nu, Lambda, lambda.smooth), which samples have only on
// demand (PawlSimDef.corrections). NULL: false.
PAWL_API bool pawl_columns_corrections(const char* columns);
// Before the first sample: the run may be saved and go on later (checkpoint.h). An HDF5 file, which
// cannot be cut back after a kill, is then made when it is finished, from PATH.rows: the numbers of
// one sample behind those of the other. PATH.rows stays, for an interrupted run to go on with,
// until pawl_writer_forget, after pawl_writer_finish, removes it.
PAWL_API PAWL_CHECKED PawlStatus pawl_writer_resumable(PawlWriter* writer, PawlError* err);
PAWL_API void pawl_writer_forget(PawlWriter* writer);
// Writes one sample, one number for each column of `recorder`, to PATH.part. What was written is on
// the disk, in a form that can be read, after a second or so at most, also should the program be
// killed. PAWL_ERROR_USAGE at the first sample: a chosen column is not there. After a failure
// PATH.part stays with what it holds.
PAWL_API PAWL_CHECKED PawlStatus pawl_writer_add(PawlWriter* writer, const PawlRecorder* recorder,
                                                 const double* sample, PawlError* err);
// Adds what comes last (the events, to HDF5) and gives the file its name. Nothing without a sample.
PAWL_API PAWL_CHECKED PawlStatus pawl_writer_finish(PawlWriter* writer,
                                                    const PawlRecorder* recorder, PawlError* err);
// NULL is allowed. A file that was neither finished nor failed is removed.
PAWL_API void pawl_writer_destroy(PawlWriter* writer);

// ---- reports ----------------------------------------------------------------------------------
// A report is one HTML file to look at and to pass on: the animation of the scene, curves, events,
// equations. Its samples are thinned as they come: of neighbours the least and the greatest value
// stay, and both sides of jumps.
typedef struct PawlReportDef {
  const PawlModel* model;  // of the run; must outlive the writer
  const char* page;        // file with the page that the run is put into, at PAWL_REPORT_MARK
  const char* text;        // of the model, as written; borrowed; NULL: not shown
} PawlReportDef;
#define PAWL_REPORT_MARK "<!--pawl:run-->"
// Before the first sample of a writer of PAWL_FORMAT_REPORT; reads the page. PAWL_ERROR_USAGE: it
// cannot be read, or is not such a page.
PAWL_API PAWL_CHECKED PawlStatus pawl_writer_report(PawlWriter* writer, const PawlReportDef* def,
                                                    PawlError* err);
// Before pawl_writer_finish: what the run has to say of itself, a JSON value, and its last state,
// for the modes that it ended in. Both are borrowed until then; NULL: nothing.
PAWL_API void pawl_writer_summary(PawlWriter* writer, const char* json, const PawlState* end);
// True when the scene of the model is in space, for which there is another page.
PAWL_API bool pawl_model_is_spatial(const PawlModel* model);

// A drawing of coordinates, rates, energies, outputs and multipliers over time with the events
// marked, as SVG. Curves of different units never share a panel.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_svg(const PawlRecorder* recorder, const char* path,
                                                PawlError* err);

#ifdef __cplusplus
}
#endif
