// SPDX-License-Identifier: Apache-2.0
// pawl import: a robot in URDF as the text of a model.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const Option options[] = {
    {"-o", "FILE.yaml", "write to a file; - and without: standard output", VALUE_FILE, true},
    {"--limits", NULL, "make stops of the limits of joints", VALUE_NONE, true},
    {"--floating", NULL, "let the base move freely; otherwise it is fixed to the ground",
     VALUE_NONE, true},
    {"--strict", NULL, "write nothing, with exit code 2, where there is a warning", VALUE_NONE,
     true},
    {"-q, --quiet", NULL, "no notes", VALUE_NONE, false},
    {0}};

static void print_text(void* context, const char* text, size_t length) {
  fwrite(text, 1, length, context);
}

// Whole or not at all: the text is made before the file is opened.
static int write_text(const char* path, const char* text, size_t length) {
  bool direct = strcmp(path, "-") == 0;
  FILE* to = direct ? stdout : fopen(path, "w");
  if (!to) {
    return complain(EXIT_USAGE, "cannot write %s: %s", path, strerror(errno));
  }
  bool good = fwrite(text, 1, length, to) == length && fflush(to) == 0;
  good = (direct || fclose(to) == 0) && good;
  if (!good && !direct) {
    remove(path);
  }
  return good ? EXIT_GOOD : complain(EXIT_RUN, "cannot write %s", path);
}

// All of a file or of standard input; one byte more than a text may have, so that the library
// refuses what is too long.
static int read_whole(const char* path, char** text, size_t* length) {
  bool direct = strcmp(path, "-") == 0;
  FILE* from = direct ? stdin : fopen(path, "rb");
  if (!from) {
    return complain(EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
  }
  size_t room = (size_t)PAWL_MODEL_MAX_BYTES + 1;
  *text = malloc(room);
  *length = *text ? fread(*text, 1, room, from) : 0;
  bool failed = ferror(from) != 0;
  if (!direct) {
    fclose(from);
  }
  return !*text   ? complain_memory()
         : failed ? complain(EXIT_USAGE, "cannot read %s: %s", path, strerror(errno))
                  : 0;
}

static int import(const Arguments* a, const char* urdf, size_t length, const char* path) {
  char *text = NULL, *warnings = NULL, *notes = NULL;
  size_t size = 0;
  PawlError err = {0};
  FILE* memory = open_memstream(&text, &size);
  if (!memory) {
    return complain_memory();
  }
  PawlRobotDef def = robot_def(a);
  const char* name = strcmp(a->model, "-") == 0 ? "<stdin>" : a->model;
  PawlStatus status =
      pawl_robot_import(urdf, length, name, &def, print_text, memory, &warnings, &notes, &err);
  bool whole = fclose(memory) == 0;
  int code = status != PAWL_OK ? report_error(&err) : whole ? EXIT_GOOD : complain_memory();
  if (code == EXIT_GOOD && !tell_remarks(a, warnings, notes, &err)) {
    code = report_error(&err);
  }
  code = code == EXIT_GOOD ? write_text(path, text, size) : code;
  pawl_string_free(warnings);
  pawl_string_free(notes);
  free(text);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mFSqR", &a);
  if (code) {
    return code;
  }
  if (a.output_count > 1) {
    return complain(EXIT_USAGE, "one -o is enough");
  }
  const char* path = a.output_count ? a.outputs[0] : "-";
  if (strcmp(path, a.model) == 0 && strcmp(path, "-") != 0) {
    return complain(EXIT_USAGE, "-o %s would replace the robot", path);
  }
  char* urdf = NULL;
  size_t length = 0;
  code = read_whole(a.model, &urdf, &length);
  code = code ? code : import(&a, urdf, length, path);
  free(urdf);
  return code;
}

const Command command_import = {
    .name = "import",
    .line = "turn a robot in URDF into a model with bodies and joints",
    .run = run,
    .usage = "ROBOT.urdf [-o FILE.yaml] [--limits] [--floating] [--strict]",
    .about =
        "Prints the model that `pawl run ROBOT.urdf` would run, to go on with: brakes, locks and "
        "events are added there, or in a model that includes it (include: FILE.yaml, or "
        "include: ROBOT.urdf).",
    .options = options,
    .place = PLACE_FILE,
    .notes =
        "Links that fixed joints hold together become one body. A base without mass is the ground; "
        "one with mass is welded to it. What is left out (meshes, transmissions, sensors, ...) is "
        "listed in notes and at the head of the file."};
