// SPDX-License-Identifier: Apache-2.0
// A model text becomes a checked model: the file is read, parsed to a tree, and its sections are
// taken in the order in which they need each other, whatever their order in the file.
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/demand.h"
#include "model/expression_impl.h"
#include "model/file.h"
#include "model/loader.h"
#include "model/mechanism.h"
#include "model/simulate.h"
#include "model/use.h"
#include "model/write.h"

// ---- what the sections share ----------------------------------------------------------------

bool pawl_loader_no_memory(PawlLoader* loader) {
  loader->report.no_memory = true;
  return false;
}

bool pawl_loader_room(PawlLoader* loader, const PawlYaml* where, void** array, int* capacity,
                      int count, size_t size) {
  if (count >= PAWL_MODEL_MAX_ELEMENTS) {
    pawl_report(&loader->report, where, "the model is too large: more than %d elements of a kind",
                PAWL_MODEL_MAX_ELEMENTS);
    return false;
  }
  int coming = PAWL_MODEL_MAX_ELEMENTS - count < loader->coming ? 0 : loader->coming;
  if (count == *capacity && coming > 1 && pawl_grow(array, capacity, count + coming, size) == 0) {
    return true;
  }
  return pawl_grow(array, capacity, count + 1, size) == 0 || pawl_loader_no_memory(loader);
}

void* pawl_loader_parts(PawlLoader* loader, const PawlYaml* where, int count, size_t size) {
  loader->parts += count;
  if (loader->parts > PAWL_MODEL_MAX_ELEMENTS) {
    pawl_report(&loader->report, where,
                "the model is too large: more than %d rows, modes, points and times together",
                PAWL_MODEL_MAX_ELEMENTS);
    return NULL;
  }
  void* parts = pawl_arena_alloc(&loader->model->arena, (size_t)count, size);
  if (!parts) {
    pawl_loader_no_memory(loader);
  }
  return parts;
}

bool pawl_loader_spend(PawlLoader* loader, const PawlYaml* where, int rounds) {
  bool told = loader->rounds > PAWL_MODEL_MAX_ROUNDS;
  loader->rounds += rounds;
  if (loader->rounds <= PAWL_MODEL_MAX_ROUNDS) {
    return true;
  }
  if (told) {
    return false;
  }
  pawl_report(&loader->report, where, "the families and loops up to here are too large together");
  return false;
}

PawlSource pawl_loader_source(PawlLoader* loader, PawlYaml* node) {
  if (!node->kept) {
    node->kept = pawl_pool_copy(&loader->kept, node->text, (size_t)node->length);
    if (!node->kept) {
      pawl_loader_no_memory(loader);
    }
  }
  return (PawlSource){.line = node->line, .column = node->column, .text = node->kept};
}

// ---- sections -------------------------------------------------------------------------------

static void load_title(PawlLoader* loader, const PawlYaml* root) {
  PawlModel* model = loader->model;
  PawlYaml *name = pawl_yaml_get(root, "model"), *about = pawl_yaml_get(root, "about");
  if (!name || pawl_yaml_is_null(name)) {
    pawl_report(&loader->report, name ? name : root, "model: with a name is missing");
  } else {
    pawl_load_text(loader, name, &model->name);
  }
  if (about) {
    pawl_load_text(loader, about, &model->about);
  }
}

// Coordinates and definitions claim their names before either is evaluated, so that a wrong use of
// one is told from an unknown name.
static void load_names(PawlLoader* loader, const PawlYaml* root) {
  PawlYaml *coordinates = pawl_yaml_get(root, "coordinates"),
           *define = pawl_yaml_get(root, "define"), *states = pawl_yaml_get(root, "states"),
           *inputs = pawl_yaml_get(root, "inputs");
  PawlEntries coordinate_entries = {0}, rotation_entries = {0}, define_entries = {0},
              state_entries = {0}, input_entries = {0};
  if (!coordinates || coordinates->kind == PAWL_YAML_SCALAR || coordinates->count == 0) {
    pawl_report(&loader->report, coordinates ? coordinates : root,
                "coordinates: with at least one coordinate %s",
                coordinates ? "expected" : "is missing");
    loader->names_incomplete = true;
  } else {
    pawl_claim(loader, coordinates, &loader->names, NULL, PAWL_NAME_COORDINATE,
               &coordinate_entries);
    pawl_claim_rotations(loader, &coordinate_entries, &rotation_entries);
  }
  if (pawl_expect_map(loader, states, "states")) {
    pawl_claim(loader, states, &loader->names, NULL, PAWL_NAME_STATE, &state_entries);
  }
  if (pawl_expect_map(loader, inputs, "inputs")) {
    pawl_claim(loader, inputs, &loader->names, NULL, PAWL_NAME_INPUT, &input_entries);
  }
  if (pawl_expect_map(loader, define, "define")) {
    pawl_claim(loader, define, &loader->names, NULL, PAWL_NAME_DEFINITION, &define_entries);
  }
  pawl_fill(loader, &coordinate_entries, pawl_add_coordinate);
  loader->model->turning = loader->model->coordinate_count;
  pawl_load_rotations(loader, &rotation_entries);
  pawl_fill(loader, &input_entries, pawl_add_input);
  pawl_fill(loader, &state_entries, pawl_add_state);
  pawl_fill(loader, &define_entries, pawl_add_definition);
  if (loader->model->coordinate_count == 0 && loader->report.count == 0) {
    pawl_report(&loader->report, coordinates->key, "all ranges of coordinates: are empty");
  }
  pawl_build_definitions(loader);
  pawl_settle_starts(loader);
}

static void load_sections(PawlLoader* loader, PawlYaml* root, int override_count,
                          const char* const* overrides) {
  if (root->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, root, "a model is a map of sections: model:, coordinates:, ...");
    return;
  }
  pawl_yaml_check_keys(&loader->report, root, "a model", pawl_section_keys);
  load_title(loader, root);
  pawl_load_functions(loader, pawl_yaml_get(root, "functions"));
  pawl_load_parameters(loader, pawl_yaml_get(root, "parameters"), override_count, overrides);
  pawl_load_tables(loader, pawl_yaml_get(root, "tables"));
  pawl_judge_demands(loader);
  load_names(loader, root);
  pawl_load_energy(loader, pawl_yaml_get(root, "kinetic"), PAWL_TERM_KINETIC);
  pawl_load_mass(loader, pawl_yaml_get(root, "mass"));
  pawl_load_energy(loader, pawl_yaml_get(root, "potential"), PAWL_TERM_POTENTIAL);
  pawl_load_energy(loader, pawl_yaml_get(root, "dissipation"), PAWL_TERM_DISSIPATION);
  pawl_load_forces(loader, pawl_yaml_get(root, "forces"));
  pawl_load_springs(loader, pawl_yaml_get(root, "springs"));
  pawl_load_constraints(loader, pawl_yaml_get(root, "constraints"), pawl_yaml_get(root, "locks"));
  pawl_load_contacts(loader, pawl_yaml_get(root, "contacts"));
  pawl_load_rates(loader, pawl_yaml_get(root, "states"));
  pawl_load_outputs(loader, pawl_yaml_get(root, "outputs"));
  pawl_load_switching(loader);
  pawl_load_events(loader, pawl_yaml_get(root, "events"));
  pawl_load_projection(loader, pawl_yaml_get(root, "projection"));
  bool unasked = loader->scene_made && loader->report.count > 0;
  PawlYaml* scene = unasked ? NULL : pawl_yaml_get(root, "scene");
  loader->scene = pawl_load_scene(loader, scene, false) ? NULL : scene;
  pawl_load_simulate(loader, pawl_yaml_get(root, "simulate"));
}

static void load_option(PawlLoader* loader, PawlYaml* child) {
  PawlSimulateDef* def = &loader->model->simulate;
  const char* nearest;
  const PawlSimulateOption* option = pawl_simulate_find(child->key->text, &nearest);
  if (!option) {
    pawl_report(&loader->report, child->key, "unknown option '%s' in simulate%s%s",
                pawl_quote(child->key->text).s, pawl_did_you_mean(nearest).s,
                pawl_yaml_is_null(child) ? PAWL_YAML_FLOW_HINT : "");
    return;
  }
  if (option->kind == PAWL_OPTION_WORD) {
    if (pawl_yaml_is_null(child)) {
      pawl_report(&loader->report, child->key, "%s is empty", option->info.name);
    } else {
      pawl_load_text(loader, child, (const char**)((char*)def + option->offset));
    }
    return;
  }
  double value;
  char why[192];
  if (pawl_value(loader, child, &PAWL_SCOPE_EMPTY, &value) &&
      !pawl_simulate_set_number(def, option, value, why, sizeof why)) {
    pawl_report(&loader->report, child, "%s", why);
  }
}

void pawl_load_simulate(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "simulate")) {
    for (PawlYaml* child = section->first; child; child = child->next) {
      load_option(loader, child);
    }
  }
}

// ---- the whole ------------------------------------------------------------------------------

static PawlModel* new_model(const char* file) {
  PawlModel* model = pawl_alloc(1, sizeof *model);
  if (!model) {
    return NULL;
  }
  model->dag = pawl_dag_create();
  model->file = pawl_arena_copy(&model->arena, file, strlen(file));
  model->name = model->about = model->warnings = model->notes = "";
  model->text_hash = PAWL_HASH_START;
  model->simulate = pawl_simulate_def_default();
  if (!model->dag || !model->file) {
    pawl_model_destroy(model);
    return NULL;
  }
  return model;
}

void pawl_loader_free(PawlLoader* loader) {
  if (!loader) {
    return;
  }
  pawl_names_free(&loader->names);
  pawl_names_free(&loader->outputs);
  pawl_names_free(&loader->constraints);
  pawl_names_free(&loader->contacts);
  pawl_names_free(&loader->events);
  pawl_names_free(&loader->functions);
  pawl_free(loader->user_functions);
  pawl_free(loader->definitions);
  pawl_free(loader->pending);
  pawl_free(loader->switching);
  pawl_free(loader->starts);
  pawl_dag_destroy(loader->values);
  pawl_notes_destroy(loader->spare_notes);
  pawl_remarks_free(&loader->remarks);
  pawl_arena_free(&loader->arena);
  pawl_free(loader);
}

static PawlLoader* new_loader(PawlModel* model) {
  PawlLoader* loader = pawl_alloc(1, sizeof *loader);
  if (!loader) {
    return NULL;
  }
  loader->model = model;
  loader->report.file = model->file;
  loader->pool.arena = &loader->arena;
  loader->kept.arena = &model->arena;
  loader->values = pawl_dag_create();
  if (!loader->values) {
    pawl_loader_free(loader);
    return NULL;
  }
  return loader;
}

static const char no_urdf[] = "this is no URDF, which begins with <";

static bool is_called_urdf(const char* file) {
  const char* suffix = strrchr(file, '.');
  return suffix && strcmp(suffix, ".urdf") == 0;
}

PawlYaml* pawl_loader_tree(PawlLoader* loader, const char* text, size_t length,
                           PawlReport* report) {
  static const char byte_order_mark[] = "\xEF\xBB\xBF";  // some editors begin a file with it
  size_t skipped = sizeof byte_order_mark - 1;
  if (length >= skipped && memcmp(text, byte_order_mark, skipped) == 0) {
    text += skipped;
    length -= skipped;
  }
  uint64_t* hash = &loader->model->text_hash;
  *hash = pawl_hash(*hash, text, length);
  bool xml = pawl_text_is_xml(text, length);
  if (!xml && is_called_urdf(report->file)) {
    pawl_report_at(report, 1, 1, "%s", no_urdf);
    return NULL;
  }
  if (!xml) {
    return pawl_yaml_parse(&loader->pool, text, length, report);
  }
  char chosen[] = {(char)loader->robot.limits, (char)loader->robot.floating};
  *hash = pawl_hash(*hash, chosen, sizeof chosen);
  return pawl_urdf_parse(&loader->pool, text, length, &loader->robot, report, &loader->remarks);
}

// The tree of the text with its uses, bodies and joints expanded; NULL after reporting.
static PawlYaml* read_tree(PawlLoader* loader, const char* text, size_t length) {
  PawlYaml* root = pawl_loader_tree(loader, text, length, &loader->report);
  bool good = root && pawl_expand_uses(loader, root, loader->model->file);
  return good && pawl_expand_mechanism(loader, root) ? root : NULL;
}

static PawlStatus open_loader(const char* name, size_t length, PawlModel** model,
                              PawlLoader** loader, PawlError* err) {
  PAWL_TRY(pawl_check_size(length, name, err));
  *model = new_model(name);
  *loader = *model ? new_loader(*model) : NULL;
  if (!*loader) {
    pawl_model_destroy(*model);
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

static void keep_lines(PawlLoader* loader, const PawlText* lines, const char** out) {
  if (lines->length > 0) {
    *out = pawl_arena_copy(&loader->model->arena, lines->s, lines->length);
    loader->report.no_memory |= !*out;
  }
}

// For the scene; without what it does not look at.
static void keep_loader(PawlLoader* loader) {
  loader->model->unread = loader;
  pawl_free(loader->starts);
  pawl_free(loader->switching);
  loader->starts = NULL;
  loader->switching = NULL;
}

PawlStatus pawl_model_parse_robot(const char* text, size_t length, const char* name,
                                  const PawlRobotDef* def, int override_count,
                                  const char* const* overrides, PawlModel** out, PawlError* err) {
  *out = NULL;
  PawlModel* model;
  PawlLoader* loader;
  PAWL_TRY(open_loader(name, length, &model, &loader, err));
  loader->robot = *def;
  PawlYaml* root = read_tree(loader, text, length);
  if (root) {
    load_sections(loader, root, override_count, overrides);
  }
  keep_lines(loader, &loader->remarks.warnings, &model->warnings);
  keep_lines(loader, &loader->remarks.notes, &model->notes);
  PawlStatus status = pawl_report_finish(&loader->report, err);
  if (status == PAWL_OK && loader->scene) {
    keep_loader(loader);
  } else {
    pawl_loader_free(loader);
  }
  if (status != PAWL_OK) {
    pawl_model_destroy(model);
    return status;
  }
  *out = model;
  return PAWL_OK;
}

PawlStatus pawl_model_read_scene(const PawlModel* model, PawlError* err) {
  PawlLoader* loader = model->unread;
  if (!loader) {
    return PAWL_OK;
  }
  if (!loader->scene_read) {
    pawl_load_scene(loader, loader->scene, true);
    loader->scene_read = true;
  }
  PAWL_TRY(pawl_report_finish(&loader->report, err));
  loader->model->unread = NULL;
  pawl_loader_free(loader);
  return PAWL_OK;
}

PawlStatus pawl_model_parse(const char* text, size_t length, const char* name, int override_count,
                            const char* const* overrides, PawlModel** out, PawlError* err) {
  return pawl_model_parse_robot(text, length, name, &(PawlRobotDef){0}, override_count, overrides,
                                out, err);
}

PawlStatus pawl_model_expand(const char* text, size_t length, const char* name, PawlOnText on_text,
                             void* context, PawlError* err) {
  PawlModel* model;
  PawlLoader* loader;
  PAWL_TRY(open_loader(name, length, &model, &loader, err));
  PawlYaml* root = read_tree(loader, text, length);
  bool one = root && root->kind == PAWL_YAML_MAP && pawl_unite_keys(loader, root, model->file);
  PawlStatus status = pawl_report_finish(&loader->report, err);
  if (status == PAWL_OK && one) {
    pawl_write_tree(root, on_text, context);
  }
  pawl_loader_free(loader);
  pawl_model_destroy(model);
  return status;
}

// ---- robots ---------------------------------------------------------------------------------

// Lines behind "# ", in ASCII, since a name of a file may be no text at all.
static void write_comments(const PawlText* lines, PawlOnText on_text, void* context) {
  bool begins = true;
  for (const char* c = lines->s ? lines->s : ""; *c; c++) {
    bool good = *c == '\n' || (*c >= ' ' && *c < 0x7F);
    on_text(context, "# ", begins ? 2 : 0);
    on_text(context, good ? c : "?", 1);
    begins = *c == '\n';
  }
  on_text(context, "\n", lines->length > 0);
}

static bool give_lines(const PawlText* lines, char** out) {
  *out = pawl_alloc(lines->length + 1, 1);
  if (*out && lines->length > 0) {
    memcpy(*out, lines->s, lines->length);
  }
  return *out != NULL;
}

PawlStatus pawl_robot_import(const char* text, size_t length, const char* name,
                             const PawlRobotDef* def, PawlOnText on_text, void* context,
                             char** warnings, char** notes, PawlError* err) {
  *warnings = *notes = NULL;
  PawlModel* model;
  PawlLoader* loader;
  PAWL_TRY(open_loader(name, length, &model, &loader, err));
  loader->robot = *def;
  if (!pawl_text_is_xml(text, length)) {
    pawl_report_at(&loader->report, 1, 1, "%s", no_urdf);
  }
  PawlYaml* root =
      loader->report.count ? NULL : pawl_loader_tree(loader, text, length, &loader->report);
  const PawlRemarks* remarks = &loader->remarks;
  if (root && !(give_lines(&remarks->warnings, warnings) && give_lines(&remarks->notes, notes))) {
    pawl_loader_no_memory(loader);
  }
  PawlStatus status = pawl_report_finish(&loader->report, err);
  if (status == PAWL_OK) {
    write_comments(&remarks->warnings, on_text, context);
    write_comments(&remarks->notes, on_text, context);
    write_comments(&remarks->comments, on_text, context);
    pawl_write_tree(root, on_text, context);
  }
  pawl_loader_free(loader);
  pawl_model_destroy(model);
  return status;
}

// ---- files ----------------------------------------------------------------------------------

PawlStatus pawl_model_load_robot(const char* path, const PawlRobotDef* def, int override_count,
                                 const char* const* overrides, PawlModel** out, PawlError* err) {
  *out = NULL;
  char* text = NULL;
  size_t length = 0;
  PawlStatus status = pawl_read_file(path, &text, &length, err);
  if (status == PAWL_OK) {
    status = pawl_model_parse_robot(text, length, path, def, override_count, overrides, out, err);
  }
  pawl_free(text);
  return status;
}

PawlStatus pawl_model_load(const char* path, int override_count, const char* const* overrides,
                           PawlModel** out, PawlError* err) {
  return pawl_model_load_robot(path, &(PawlRobotDef){0}, override_count, overrides, out, err);
}

PawlStatus pawl_model_expand_file(const char* path, PawlOnText on_text, void* context,
                                  PawlError* err) {
  char* text = NULL;
  size_t length = 0;
  PawlStatus status = pawl_read_file(path, &text, &length, err);
  if (status == PAWL_OK) {
    status = pawl_model_expand(text, length, path, on_text, context, err);
  }
  pawl_free(text);
  return status;
}
