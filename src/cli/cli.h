// SPDX-License-Identifier: Apache-2.0
// What the subcommands of pawl share. The command line uses only the public headers.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "pawl/pawl.h"

enum { EXIT_GOOD = 0, EXIT_RUN = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

// ---- the models that come with pawl -------------------------------------------------------------
typedef struct Example {
  const char* name;
  const char* text;
  size_t length;
} Example;
extern const Example examples[];  // ends with a NULL name

// ---- arguments ----------------------------------------------------------------------------------
enum { MOST_OUTPUTS = 16, MOST_OVERRIDES = 256, MOST_SETTINGS = 64, MOST_FILES = 12 };

typedef struct Setting {
  const char *name, *value;
} Setting;

typedef struct Arguments {
  const char* model;
  bool example;  // the model is an example, whatever files there are
  int override_count, output_count, setting_count;
  const char* overrides[MOST_OVERRIDES];  // -p name=value
  const char* outputs[MOST_OUTPUTS];      // -o FILE
  Setting settings[MOST_SETTINGS];        // --step 1e-3 and other options of simulate.def
  int file_count;
  const char* files[MOST_FILES];  // files that are read
  const char* plot;               // --plot FILE
  const char *animate, *strobe;   // --animate FILE, --strobe N
  const char *plot_y, *plot_x;    // -y LIST, -x NAME
  const char *window, *size;      // --window FROM:TO, --size WxH
  const char* report;             // --report FILE, one of the outputs, too
  const char* columns;            // --columns LIST
  const char* keep;               // --keep NAMES
  const char* checkpoint;         // --checkpoint FILE
  const char* every;              // --every S
  const char* restart;            // --restart FILE
  bool json, project, quiet, latex, strict, help, no_balance, corrections;
  bool limits, floating;  // of robots in URDF
} Arguments;

// Which options a command takes, as a string of letters: p parameters, s settings, o outputs and
// plot, F outputs alone, g a plot alone, y what a plot shows, f any number of files, j --json, P
// --project and
// --keep, q --quiet, l --latex, S --strict, c --checkpoint, --every and
// --restart, R --limits and --floating, m a model is required.
// Returns 0, or EXIT_USAGE after a message.
int read_arguments(int argc, char** argv, const char* takes, Arguments* out);

// The model named on the command line: a file, - for standard input, or an example by name. NULL
// after a message.
PawlModel* load_model(const Arguments* arguments, PawlError* err);
// How a robot in URDF is to be read.
PawlRobotDef robot_def(const Arguments* arguments);
// Prints what there is to say of a model that was read (pawl_model_warnings, pawl_model_notes).
// False, with `err` filled, where --strict makes an error of a warning.
bool tell_remarks(const Arguments* arguments, const char* warnings, const char* notes,
                  PawlError* err);
// simulate: of the model with the command line's settings over it. 0, or EXIT_USAGE.
int simulate_def(const Arguments* arguments, const PawlModel* model, PawlSimulateDef* out);

double seconds_now(void);

// ---- JSON ---------------------------------------------------------------------------------------
typedef struct Json {
  FILE* to;
  int depth;
  bool first;  // no comma before the next value
} Json;

void json_open(Json* json, const char* key, char bracket);  // key NULL inside a list
void json_close(Json* json, char bracket);
void json_number(Json* json, const char* key, double value);  // null when not finite
void json_whole(Json* json, const char* key, long long value);
void json_text(Json* json, const char* key, const char* text);
void json_bool(Json* json, const char* key, bool value);
void json_numbers(Json* json, const char* key, int count, const double* values);

// The shortest decimal that reads back.
const char* shortest(double value, char room[32]);

// True once a command has begun its object; if it then fails, the object says so itself.
bool json_begun(void);

// ---- messages -----------------------------------------------------------------------------------
// Prints every line of the text behind "pawl: ", keeps it for --json, and returns `code`.
PAWL_PRINTF(2, 3) int complain(int code, const char* format, ...);
int complain_memory(void);
// The same for an error of the library; returns the exit code that belongs to it.
int report_error(const PawlError* err);
// A line "pawl: warning: ..." for each line of the text; "pawl: note: ...", which --strict passes.
void warn(const char* text);
void note(const char* text);
// With --strict and warnings so far: EXIT_RUN after a message; else EXIT_GOOD.
int strict_code(const Arguments* arguments);
// The fields "status" (ok, failed, interrupted) and, unless ok, "message" with all complaints.
void json_status(Json* json, int code);
// An object with these fields alone, for a command that failed before it had anything to print.
void print_json_failure(int code);

// ---- projection ---------------------------------------------------------------------------------
// What --project changed of the start that the model states; `placed` is the state before the first
// step. PAWL_ERROR_MEMORY leaves NULL, which is allowed below and stands for no change.
typedef struct Projection Projection;
PawlStatus projection_create(const PawlSystem* system, const PawlState* placed, Projection** out,
                             PawlError* err);
void projection_destroy(Projection* projection);
void projection_print(const Projection* projection);  // "projected x: from -> to", standard error
void projection_json(const Projection* projection, Json* json);  // "projected": {"x": {...}}

// ---- reports ------------------------------------------------------------------------------------
// Gives the writer of a report its page, of which a message says what to do when it is not there.
// `text` (NULL: none) must outlive the writer. 0, or EXIT_USAGE.
int report_begin(const PawlModel* model, const char* text, PawlWriter* writer);
// The text of the model named on the command line, to be freed; NULL where it is not known any
// more. 0, or an exit code after a message.
int model_text(const Arguments* arguments, char** text);

// ---- commands -----------------------------------------------------------------------------------
typedef enum Value { VALUE_NONE, VALUE_TEXT, VALUE_FILE, VALUE_METHOD } Value;

// What stands behind the name of a command.
typedef enum Place { PLACE_MODEL, PLACE_FILE, PLACE_WORD, PLACE_NONE } Place;

typedef struct Option {
  const char* name;      // "-q, --quiet"
  const char* argument;  // "FILE"; NULL: a flag
  const char* text;
  Value value;  // what a shell offers behind it
  bool often;   // --help shows it, too
} Option;

// Texts are paragraphs with \n between them, in lines of any length.
typedef struct Command {
  const char *name, *line;  // one line for the list
  int (*run)(int argc, char** argv);
  const char* usage;  // behind the name; several with \n between them
  const char* about;
  const Option* options;  // end with {0}; NULL without
  bool settings;          // takes the options of the simulation, too
  Place place;
  const char* (*word)(int index);  // PLACE_WORD: those that it takes; NULL past the last
  void (*extra)(void);             // prints more; NULL without
  const char* terms_title;
  const Option* terms;  // words that are explained, as options are; NULL without
  const char* notes;    // NULL without
} Command;
extern const Command command_run, command_check, command_compare, command_compile, command_converge,
    command_equations, command_equilibrium, command_import, command_inverse, command_bench,
    command_models, command_plot, command_reproduce;
// "dopri, ark": the methods that use an option. False when all do.
bool list_users(const char* option, char* text, size_t size);
// Why the method of a run is what it is: "stated", or what auto says.
const char* method_reason(const PawlSim* sim);
// "event-driven over rk4", in `room`.
const char* method_label(const PawlSimulateDef* def, char* room, size_t size);
