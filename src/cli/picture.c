// SPDX-License-Identifier: Apache-2.0
#include "cli/picture.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { LONGEST_PATH = 4096 };
static const char CONVERTER[] = "rsvg-convert", FILM_MAKER[] = "ffmpeg";

static bool ends_in(const char* path, const char* ending) {
  size_t length = strlen(path), more = strlen(ending);
  return length > more && strcmp(path + length - more, ending) == 0;
}

// ---- programs beside pawl -----------------------------------------------------------------------
// Is there a program of that name in PATH?
static bool program_exists(const char* name) {
  const char* at = getenv("PATH");
  while (at && *at) {
    char file[LONGEST_PATH];
    int length = (int)strcspn(at, ":");
    int used = snprintf(file, sizeof file, "%.*s/%s", length, at, name);
    if (used > 0 && used < (int)sizeof file && access(file, X_OK) == 0) {
      return true;
    }
    at += length + (at[length] == ':');
  }
  return false;
}

// Runs it to its end; true when it says that all is well.
static bool program_run(char* const* words) {
  pid_t process;
  int status = -1;
  if (posix_spawnp(&process, words[0], NULL, NULL, words, environ) != 0) {
    return false;
  }
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- files ------------------------------------------------------------------------------------
int folder_check(const char* path) {
  char* copy = strdup(path);
  if (!copy) {
    return complain_memory();
  }
  int failed = access(dirname(copy), W_OK) != 0;
  if (failed) {
    complain(EXIT_RUN, "%s: cannot be written: %s", path, strerror(errno));
  }
  free(copy);
  return failed ? EXIT_RUN : 0;
}

// ---- formats ------------------------------------------------------------------------------------
int picture_check(const char* option, const char* path) {
  if (ends_in(path, ".png") && !program_exists(CONVERTER)) {
    return complain(EXIT_USAGE,
                    "%s %s: PNG is made by the program %s, which is not there; on Debian the "
                    "package librsvg2-bin has it. SVG and PDF need nothing",
                    option, path, CONVERTER);
  }
  if (!ends_in(path, ".svg") && !ends_in(path, ".pdf") && !ends_in(path, ".png")) {
    return complain(EXIT_USAGE, "%s %s: the name must end in .svg, .pdf or .png", option, path);
  }
  return folder_check(path);
}

static bool make_png(const char* svg, const char* png) {
  char* words[] = {(char*)CONVERTER, "-f", "png", "-o", (char*)png, (char*)svg, NULL};
  return program_run(words);
}

// PATH.part.svg and PATH.part are between, so that PATH appears whole or not at all.
static int convert(const char* svg, const char* part, const char* path) {
  if (!make_png(svg, part) || rename(part, path) != 0) {
    unlink(part);
    return complain(EXIT_RUN, "%s: %s could not make it", path, CONVERTER);
  }
  return 0;
}

int picture_write(const char* path, PictureWrite write, void* context) {
  PawlError err = {0};
  char svg[LONGEST_PATH], part[LONGEST_PATH];
  if (!ends_in(path, ".png")) {
    return write(context, path, &err) == PAWL_OK ? 0 : report_error(&err);
  }
  int length = snprintf(svg, sizeof svg, "%s.part.svg", path);
  if (length >= LONGEST_PATH) {
    return complain(EXIT_USAGE, "%s: the name is too long", path);
  }
  snprintf(part, sizeof part, "%s.part", path);
  int code = write(context, svg, &err) == PAWL_OK ? 0 : report_error(&err);
  code = code ? code : convert(svg, part, path);
  unlink(svg);
  return code;
}

// ---- plots --------------------------------------------------------------------------------------
// "0:2", "0.5:", ":2": an end that is left out is that of the run.
static int read_window(const char* text, PawlPlotDef* out) {
  const char* colon = strchr(text, ':');
  char* end = NULL;
  double from = colon && colon > text ? strtod(text, &end) : -INFINITY;
  bool good = colon && (!end || end == colon);
  double to = INFINITY;
  if (good && colon[1]) {
    to = strtod(colon + 1, &end);
    good = *end == '\0' && end != colon + 1;
  }
  if (!good || !(from < to)) {
    return complain(EXIT_USAGE,
                    "--window %s: FROM:TO in seconds is expected, as in --window 0:2; either may "
                    "be left out",
                    text);
  }
  out->from = from;
  out->to = to;
  return 0;
}

// "800x600"; a height of 0 is what the panels need.
static int read_size(const char* text, PawlPlotDef* out) {
  char* end;
  long width = strtol(text, &end, 10);
  long height = *end == 'x' ? strtol(end + 1, &end, 10) : -1;
  if (*end != '\0' || width < 1 || height < 0 || width > 100000 || height > 100000) {
    return complain(EXIT_USAGE, "--size %s: WIDTHxHEIGHT in px is expected, as in --size 800x600",
                    text);
  }
  out->width = (int)width;
  out->height = (int)height;
  return 0;
}

int plot_def(const Arguments* a, PawlPlotDef* out) {
  *out = pawl_plot_def_default();
  out->y = a->plot_y;
  out->x = a->plot_x;
  int code = a->window ? read_window(a->window, out) : 0;
  return code || !a->size ? code : read_size(a->size, out);
}

typedef struct Plot {
  const PawlPlotDef* def;
  int count;
  const PawlRecorder* const* runs;
  const char* const* names;
} Plot;

static PawlStatus write_plot(void* context, const char* path, PawlError* err) {
  const Plot* plot = context;
  return pawl_plot_write(plot->def, plot->count, plot->runs, plot->names, path, err);
}

static int draw(const char* path, PictureWrite write, void* context, bool quiet) {
  int code = picture_write(path, write, context);
  if (!code && !quiet) {
    fprintf(stderr, "wrote %s\n", path);
  }
  return code;
}

int plot_runs(const PawlPlotDef* def, int count, const PawlRecorder* const* runs,
              const char* const* names, const char* path, bool quiet) {
  Plot plot = {def, count, runs, names};
  return draw(path, write_plot, &plot, quiet);
}

// ---- charts -------------------------------------------------------------------------------------
static PawlStatus write_chart(void* context, const char* path, PawlError* err) {
  return pawl_chart_write(context, path, err);
}

int chart_draw(const PawlChartDef* def, const char* path, bool quiet) {
  PawlChartDef copy = *def;
  return draw(path, write_chart, &copy, quiet);
}

typedef struct Scenery {
  const PawlModel* model;
  const PawlRecorder* recorder;
  PawlMotionDef def;
} Scenery;

static PawlStatus write_motion(void* context, const char* path, PawlError* err) {
  const Scenery* s = context;
  return pawl_motion_write(s->model, s->recorder, &s->def, path, err);
}

// ---- films ------------------------------------------------------------------------------------
static bool is_film(const char* path) {
  return ends_in(path, ".gif") || ends_in(path, ".mp4");
}

static int film_check(const char* path) {
  const struct {
    const char *program, *package;
  } needed[] = {{CONVERTER, "librsvg2-bin"}, {FILM_MAKER, "ffmpeg"}};
  for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
    if (!program_exists(needed[k].program)) {
      return complain(EXIT_USAGE,
                      "--animate %s: films are made by the programs %s and %s, and %s is not "
                      "there; on Debian the package %s has it. An .svg that moves needs nothing",
                      path, CONVERTER, FILM_MAKER, needed[k].program, needed[k].package);
    }
  }
  return folder_check(path);
}

// FOLDER/0001.png and so on, by way of FOLDER/frame.svg.
static int draw_frames(const char* folder, Scenery* scenery, int count) {
  char svg[LONGEST_PATH + 16], png[LONGEST_PATH + 16];
  snprintf(svg, sizeof svg, "%s/frame.svg", folder);
  int code = 0;
  for (int k = 1; k <= count && !code; k++) {
    PawlError err = {0};
    scenery->def.frame = k;
    snprintf(png, sizeof png, "%s/%04d.png", folder, k);
    code = write_motion(scenery, svg, &err) == PAWL_OK ? 0 : report_error(&err);
    if (!code && !make_png(svg, png)) {
      code = complain(EXIT_RUN, "%s: %s could not make it", png, CONVERTER);
    }
  }
  unlink(svg);
  return code;
}

static void remove_frames(const char* folder, int count) {
  char png[LONGEST_PATH + 16];
  for (int k = 1; k <= count; k++) {
    snprintf(png, sizeof png, "%s/%04d.png", folder, k);
    unlink(png);
  }
  rmdir(folder);
}

// A gif with colours of its own; a film with an even number of px, which its codecs want.
static int join_frames(const char* folder, const char* path, double rate) {
  char frames[LONGEST_PATH + 16], speed[32], part[LONGEST_PATH + 16];
  bool gif = ends_in(path, ".gif");
  snprintf(frames, sizeof frames, "%s/%%04d.png", folder);
  snprintf(part, sizeof part, "%s.part%s", path, gif ? ".gif" : ".mp4");
  snprintf(speed, sizeof speed, "%.6g", rate);
  char* filter = gif ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                     : "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,format=yuv420p";
  char* words[] = {(char*)FILM_MAKER,
                   "-nostdin",
                   "-y",
                   "-loglevel",
                   "error",
                   "-framerate",
                   speed,
                   "-i",
                   frames,
                   "-vf",
                   filter,
                   part,
                   NULL};
  if (!program_run(words) || rename(part, path) != 0) {
    unlink(part);
    return complain(EXIT_RUN, "%s: %s could not make it", path, FILM_MAKER);
  }
  return 0;
}

// The frames stand in PATH.frames while the film is made of them.
static int film_draw(const char* path, Scenery* scenery) {
  char folder[LONGEST_PATH];
  double seconds;
  int count = pawl_motion_frames(&scenery->def, scenery->recorder, &seconds);
  if (snprintf(folder, sizeof folder, "%s.frames", path) >= LONGEST_PATH) {
    return complain(EXIT_USAGE, "%s: the name is too long", path);
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return complain(EXIT_RUN, "%s: cannot be made: %s", folder, strerror(errno));
  }
  int code = draw_frames(folder, scenery, count);
  code = code ? code : join_frames(folder, path, count / seconds);
  remove_frames(folder, count);
  return code;
}

// ---- motions ------------------------------------------------------------------------------------
int motion_def(const Arguments* a, PawlMotionDef* out) {
  PawlPlotDef plot;
  char* end = NULL;
  long strobe = a->strobe ? strtol(a->strobe, &end, 10) : 0;
  *out = pawl_motion_def_default();
  if (a->strobe && (*end != '\0' || end == a->strobe || strobe < 1 || strobe > 200)) {
    return complain(EXIT_USAGE, "--strobe %s: a number of instants from 1 to 200 is expected",
                    a->strobe);
  }
  bool film = !strobe && is_film(a->animate);
  if (!strobe && !film && !ends_in(a->animate, ".svg")) {
    return complain(EXIT_USAGE,
                    "--animate %s: the name must end in .svg, .gif or .mp4; with --strobe N in "
                    ".svg, .pdf or .png",
                    a->animate);
  }
  int code = plot_def(a, &plot);
  out->strobe = (int)strobe;
  out->from = plot.from;
  out->to = plot.to;
  out->width = plot.width;
  out->height = plot.height;
  return code ? code : film ? film_check(a->animate) : picture_check("--animate", a->animate);
}

int motion_draw(const Arguments* a, const PawlModel* model, const PawlRecorder* recorder) {
  Scenery scenery = {.model = model, .recorder = recorder};
  int code = motion_def(a, &scenery.def);
  if (code || !is_film(a->animate) || scenery.def.strobe > 0) {
    return code ? code : draw(a->animate, write_motion, &scenery, a->quiet);
  }
  code = film_draw(a->animate, &scenery);
  if (!code && !a->quiet) {
    fprintf(stderr, "wrote %s\n", a->animate);
  }
  return code;
}
