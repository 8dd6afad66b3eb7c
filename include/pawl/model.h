// SPDX-License-Identifier: Apache-2.0
// A model: the mechanics that a user wrote, read and checked whole. Fixed once loaded.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// How to simulate: see simulate.def, where each field is described. Text fields point to memory of
// whoever filled the structure (a model's live as long as the model).
typedef struct PawlSimulateDef {
#define PAWL_WORD(name, def, sentence) const char* name;
#define PAWL_REAL(name, def, low, high, unit, sentence) double name;
#define PAWL_POSITIVE(name, def, low, high, unit, sentence) double name;
#define PAWL_WHOLE(name, def, low, high, unit, sentence) int name;
#include "pawl/simulate.def"
#undef PAWL_WORD
#undef PAWL_REAL
#undef PAWL_POSITIVE
#undef PAWL_WHOLE
} PawlSimulateDef;

PAWL_API PawlSimulateDef pawl_simulate_def_default(void);
// Sets one field from text ("step", "1e-4"). PAWL_ERROR_USAGE names the option, its value and
// range. A text value is not copied.
PAWL_API PAWL_CHECKED PawlStatus pawl_simulate_def_set(PawlSimulateDef* def, const char* option,
                                                       const char* value, PawlError* err);
// Checks every range.
PAWL_API PAWL_CHECKED PawlStatus pawl_simulate_def_check(const PawlSimulateDef* def,
                                                         PawlError* err);

// One option of simulate.def, for help texts and documents; false past the last.
typedef struct PawlOptionInfo {
  const char *name, *fallback, *unit, *sentence;
  double low, high;
} PawlOptionInfo;
PAWL_API bool pawl_simulate_option(int index, PawlOptionInfo* info);

typedef struct PawlModel PawlModel;

// Overrides set parameters from outside, each "name=expression", as -p on the command line.
// Reads a file / `length` bytes of text. `name` stands for the file in messages. On failure `*out`
// is NULL and the message has one line for each mistake, "file:line:column: what". Limits
// (docs/model-format.md): PAWL_MODEL_MAX_BYTES of text, nesting, family sizes, expressions.
#define PAWL_MODEL_MAX_BYTES 16777216
PAWL_API PAWL_CHECKED PawlStatus pawl_model_load(const char* path, int override_count,
                                                 const char* const* overrides, PawlModel** out,
                                                 PawlError* err);
PAWL_API PAWL_CHECKED PawlStatus pawl_model_parse(const char* text, size_t length, const char* name,
                                                  int override_count, const char* const* overrides,
                                                  PawlModel** out, PawlError* err);
// Of a scene whose loops have more than a thousand rounds only some are read with the model. This
// reads the others, once, and tells of mistakes in them, as often as it is called; reports and
// pictures do so by themselves. Not from two threads at once.
PAWL_API PAWL_CHECKED PawlStatus pawl_model_read_scene(const PawlModel* model, PawlError* err);
// Robots in URDF are read by the same functions: a text that begins with '<' is taken for one
// (docs/bodies.md). How, these say; all false is what the functions above take, and the same holds
// for robots that a model includes.
typedef struct PawlRobotDef {
  bool limits;    // limits of joints become stops
  bool floating;  // the base is free; otherwise it is the ground, or welded to it
} PawlRobotDef;
PAWL_API PAWL_CHECKED PawlStatus pawl_model_load_robot(const char* path, const PawlRobotDef* def,
                                                       int override_count,
                                                       const char* const* overrides,
                                                       PawlModel** out, PawlError* err);
PAWL_API PAWL_CHECKED PawlStatus pawl_model_parse_robot(const char* text, size_t length,
                                                        const char* name, const PawlRobotDef* def,
                                                        int override_count,
                                                        const char* const* overrides,
                                                        PawlModel** out, PawlError* err);
// What a reader should know, lines "robot.urdf:12: ..."; "" without. Warnings: the motion may not
// be what was meant (masses that no body has). Notes: what was left out without changing the
// motion.
PAWL_API const char* pawl_model_warnings(const PawlModel* model);
PAWL_API const char* pawl_model_notes(const PawlModel* model);
// URDF as the text of a model with bodies and joints, in pieces to `on_text`, with all remarks as
// comments; nothing is written on failure. `*warnings` and `*notes` are texts as above, to be freed
// by pawl_string_free; NULL on failure.
typedef void (*PawlOnText)(void* context, const char* text, size_t length);
PAWL_API PAWL_CHECKED PawlStatus pawl_robot_import(const char* text, size_t length,
                                                   const char* name, const PawlRobotDef* def,
                                                   PawlOnText on_text, void* context,
                                                   char** warnings, char** notes, PawlError* err);
// The model as text with every `use:` replaced by what it stands for (docs/model-format.md), in
// pieces to `on_text`; it loads as the same model. The text is not checked beyond that.
PAWL_API PAWL_CHECKED PawlStatus pawl_model_expand(const char* text, size_t length,
                                                   const char* name, PawlOnText on_text,
                                                   void* context, PawlError* err);
PAWL_API PAWL_CHECKED PawlStatus pawl_model_expand_file(const char* path, PawlOnText on_text,
                                                        void* context, PawlError* err);
// The element types that come with pawl, by number; NULL past the last.
PAWL_API const char* pawl_element_name_of(int index);
PAWL_API const char* pawl_element_text_of(int index);
PAWL_API void pawl_model_destroy(PawlModel* model);  // NULL is allowed

PAWL_API const char* pawl_model_name(const PawlModel* model);   // `model:`
PAWL_API const char* pawl_model_about(const PawlModel* model);  // `about:`, "" without
PAWL_API int pawl_model_parameter_count(const PawlModel* model);
PAWL_API const char* pawl_model_parameter_name(const PawlModel* model, int parameter);
PAWL_API double pawl_model_parameter_value(const PawlModel* model, int parameter);
// Lets a parameter change while a simulation runs: before a system is made of the model. It is then
// an input of the system (pawl_system_find_input, pawl_sim_set_input), and nothing is derived anew
// when it changes. PAWL_ERROR_MODEL where only its number counts, as in a start, a range or another
// parameter, with the line; PAWL_ERROR_USAGE when there is none of this name.
PAWL_API PAWL_CHECKED PawlStatus pawl_model_free_parameter(PawlModel* model, const char* name,
                                                           PawlError* err);
PAWL_API int pawl_model_coordinate_count(const PawlModel* model);
PAWL_API const char* pawl_model_coordinate_name(const PawlModel* model, int coordinate);
PAWL_API int pawl_model_constraint_count(const PawlModel* model);
PAWL_API const char* pawl_model_constraint_name(const PawlModel* model, int constraint);
PAWL_API PawlSimulateDef pawl_model_simulate(const PawlModel* model);  // `simulate:` over defaults

#ifdef __cplusplus
}
#endif
