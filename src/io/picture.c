// SPDX-License-Identifier: Apache-2.0
#include "io/picture.h"

#include <string.h>

#include "io/file.h"
#include "io/pdf.h"
#include "io/svg.h"
#include "pawl/report.h"

static PawlStatus write_text(const PawlText* text, const char* path, PawlError* err) {
  PawlFile file;
  PAWL_TRY(pawl_file_open(&file, path, err));
  return pawl_file_close(&file, pawl_file_write(&file, text->s, text->length, err), err);
}

static bool ends_in(const char* path, const char* ending) {
  size_t length = strlen(path), more = strlen(ending);
  return length > more && strcmp(path + length - more, ending) == 0;
}

PawlStatus pawl_picture_write(const PawlText* svg, const char* path, PawlError* err) {
  if (svg->failed) {
    return pawl_fail_memory(err);
  }
  if (!ends_in(path, ".pdf")) {
    return write_text(svg, path, err);
  }
  PawlText pdf = {0};
  PawlStatus status = pawl_pdf(svg->s, &pdf, err);
  status = status ? status : write_text(&pdf, path, err);
  pawl_text_free(&pdf);
  return status;
}

PawlStatus pawl_plot_write(const PawlPlotDef* def, int count, const PawlRecorder* const* runs,
                           const char* const* names, const char* path, PawlError* err) {
  PawlText text = {0};
  PawlStatus status = pawl_svg_plot(def, count, runs, names, &text, err);
  status = status ? status : pawl_picture_write(&text, path, err);
  pawl_text_free(&text);
  return status;
}

PawlStatus pawl_write_svg(const PawlRecorder* recorder, const char* path, PawlError* err) {
  PawlPlotDef def = pawl_plot_def_default();
  return pawl_plot_write(&def, 1, &recorder, NULL, path, err);
}
