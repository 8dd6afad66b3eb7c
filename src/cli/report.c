// SPDX-License-Identifier: Apache-2.0
// What pawl run --report needs beside the run: the page that it is put into, a data file of pawl,
// and the text of the model.
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATH_LENGTH = 4096, MOST_FOLDERS = 3 };

// The folders that may hold the page: PAWL_DATA alone, or those that belong to this program, in the
// folder of a build and where it is installed.
static int page_folders(char folders[MOST_FOLDERS][PATH_LENGTH]) {
  const char* data = getenv("PAWL_DATA");
  if (data && data[0]) {
    snprintf(folders[0], PATH_LENGTH, "%s", data);
    return 1;
  }
  char program[PATH_LENGTH / 2];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) {
    return 0;
  }
  program[length] = '\0';
  const char* folder = dirname(program);
  snprintf(folders[0], PATH_LENGTH, "%s/share/pawl", folder);
  snprintf(folders[1], PATH_LENGTH, "%s/../share/pawl", folder);
  return 2;
}

static int find_page(const char* name, char path[2 * PATH_LENGTH]) {
  char folders[MOST_FOLDERS][PATH_LENGTH];
  int count = page_folders(folders);
  for (int k = 0; k < count; k++) {
    snprintf(path, 2 * PATH_LENGTH, "%.*s/%s", PATH_LENGTH - 1, folders[k], name);
    if (access(path, R_OK) == 0) {
      return 0;
    }
  }
  return complain(
      EXIT_USAGE,
      "--report: the page %s is not there (sought in %s%s%s). It is made from web/ with "
      "Node.js: `cmake --build build --target page` (Debian: apt-get install nodejs "
      "npm). PAWL_DATA names another folder",
      name, count > 0 ? folders[0] : "no folder", count > 1 ? " and " : "",
      count > 1 ? folders[1] : "");
}

int report_begin(const PawlModel* model, const char* text, PawlWriter* writer) {
  char page[2 * PATH_LENGTH];
  int code = find_page(pawl_model_is_spatial(model) ? "report-space.html" : "report.html", page);
  if (code) {
    return code;
  }
  PawlError err = {0};
  PawlReportDef def = {model, page, text};
  return pawl_writer_report(writer, &def, &err) == PAWL_OK ? 0 : report_error(&err);
}

// ---- the text of the model ----------------------------------------------------------------------
static int read_whole(const char* path, char** text) {
  FILE* file = fopen(path, "rb");
  if (!file) {
    return 0;  // it was there a moment ago; the report does without
  }
  *text = malloc((size_t)PAWL_MODEL_MAX_BYTES + 1);
  size_t length = *text ? fread(*text, 1, PAWL_MODEL_MAX_BYTES, file) : 0;
  fclose(file);
  if (!*text) {
    return complain_memory();
  }
  (*text)[length] = '\0';
  char* small = realloc(*text, length + 1);
  *text = small ? small : *text;
  return 0;
}

int model_text(const Arguments* a, char** text) {
  *text = NULL;
  if (strcmp(a->model, "-") == 0) {
    return 0;
  }
  if (access(a->model, F_OK) == 0) {
    return read_whole(a->model, text);
  }
  for (const Example* e = examples; e->name; e++) {
    if (strcmp(e->name, a->model) == 0) {
      *text = strdup(e->text);
      return *text ? 0 : complain_memory();
    }
  }
  return 0;
}
