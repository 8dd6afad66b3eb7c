// SPDX-License-Identifier: Apache-2.0
// `coordinates:` what moves, and where it starts.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/loader.h"

// ---- starts -------------------------------------------------------------------------------------

// A number at once; what uses other starts, or functions that may, later.
static void read_start(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int number,
                       bool rate, double* value) {
  if (text->kind != PAWL_YAML_SCALAR || pawl_yaml_is_null(text) ||
      pawl_is_value(loader, text, scope)) {
    pawl_value(loader, text, scope, value);
    return;
  }
  if (PAWL_ROOM(loader, text, loader->starts, loader->start_capacity, loader->start_count)) {
    loader->starts[loader->start_count++] = (PawlStartTask){
        .coordinate = number, .rate = rate, .text = text, .scope = *scope, .node = PAWL_NO_NODE};
  }
}

static double* place_of(PawlModel* model, const PawlStartTask* task) {
  PawlCoordinate* coordinate = &model->coordinates[task->coordinate];
  return task->rate ? &coordinate->rate : &coordinate->start;
}

typedef struct Settling {
  PawlLoader* loader;
  int* task_of[2];           // by coordinate: the task of its start, of its rate; -1 without
  double *param, *value[2];  // parameters; starts and rates
  int *waiting, count;       // tasks that wait for others, the last one first
  int needed;                // a task that is needed first; -1: none
} Settling;

static int look_for_needed(void* context, PawlOp leaf, int index) {
  Settling* s = context;
  bool known = leaf == PAWL_OP_Q || leaf == PAWL_OP_V;
  int task = known ? s->task_of[leaf == PAWL_OP_V][index] : -1;
  if (task >= 0 && s->loader->starts[task].state != PAWL_DEFINITION_DONE) {
    s->needed = task;
    return 1;
  }
  return 0;
}

static void report_circle(PawlLoader* loader, const PawlStartTask* task) {
  pawl_report(&loader->report, task->text, "in '%s': the start of '%s' uses itself",
              pawl_quote(task->text->text).s,
              pawl_quote(loader->model->coordinates[task->coordinate].name).s);
}

static bool evaluate(Settling* s, PawlStartTask* task) {
  PawlLoader* loader = s->loader;
  PawlLeafValues leaves = {
      .param = s->param, .q = s->value[0], .v = s->value[1], .turning = loader->model->turning};
  double value;
  if (pawl_dag_value(loader->model->dag, task->node, &leaves, &value, NULL) != PAWL_OK) {
    return pawl_loader_no_memory(loader);
  }
  if (!isfinite(value)) {
    pawl_report(&loader->report, task->text, "'%s' is not a finite number",
                pawl_quote(task->text->text).s);
    return false;
  }
  *place_of(loader->model, task) = s->value[task->rate][task->coordinate] = value;
  return true;
}

// Goes as far as it can with the task that waits last: true when it is done or has failed.
static bool settle_last(Settling* s) {
  static const PawlUse use = {"a start", PAWL_MAY_Q | PAWL_MAY_V, NULL};
  PawlStartTask* task = &s->loader->starts[s->waiting[s->count - 1]];
  if (task->state == PAWL_DEFINITION_NEW) {
    task->state = PAWL_DEFINITION_OPEN;
    if (!pawl_expression(s->loader, task->text, &task->scope, &use, &task->node)) {
      task->state = PAWL_DEFINITION_FAILED;
      return true;
    }
  }
  s->needed = -1;
  if (pawl_dag_leaves(s->loader->model->dag, task->node, look_for_needed, s) < 0) {
    pawl_loader_no_memory(s->loader);
    task->state = PAWL_DEFINITION_FAILED;
    return true;
  }
  PawlStartTask* needed = s->needed < 0 ? NULL : &s->loader->starts[s->needed];
  if (needed && needed->state == PAWL_DEFINITION_NEW) {
    s->waiting[s->count++] = s->needed;
    return false;
  }
  if (needed && needed->state == PAWL_DEFINITION_OPEN) {
    report_circle(s->loader, task);
  }
  bool good = !needed && evaluate(s, task);
  task->state = good ? PAWL_DEFINITION_DONE : PAWL_DEFINITION_FAILED;
  return true;
}

static bool open_settling(Settling* s, PawlArena* arena) {
  PawlLoader* loader = s->loader;
  const PawlModel* model = loader->model;
  int n = model->coordinate_count;
  s->param = PAWL_NEW(arena, double, model->parameter_count);
  s->waiting = PAWL_NEW(arena, int, loader->start_count);
  for (int k = 0; k < 2; k++) {
    s->task_of[k] = PAWL_NEW(arena, int, n);
    s->value[k] = PAWL_NEW(arena, double, n + model->rotation_count);
  }
  if (arena->failed) {
    return pawl_loader_no_memory(loader);
  }
  for (int k = 0; k < model->parameter_count; k++) {
    s->param[k] = model->parameters[k].value;
  }
  for (int i = 0; i < n; i++) {
    s->task_of[0][i] = s->task_of[1][i] = -1;
    s->value[0][i] = model->coordinates[i].start;
    s->value[1][i] = model->coordinates[i].rate;
  }
  for (int r = 0; r < model->rotation_count; r++) {
    memcpy(s->value[0] + model->turning + 4 * r, model->rotations[r].start, 4 * sizeof(double));
  }
  for (int k = 0; k < loader->start_count; k++) {
    const PawlStartTask* task = &loader->starts[k];
    if (task->coordinate < n) {
      s->task_of[task->rate][task->coordinate] = k;
    }
  }
  return true;
}

// A start that needs another waits for it; one that meets one that waits has closed a circle.
void pawl_settle_starts(PawlLoader* loader) {
  Settling s = {.loader = loader};
  PawlArena arena = {0};
  if (loader->start_count > 0 && open_settling(&s, &arena)) {
    for (int k = 0; k < loader->start_count; k++) {
      bool ready = loader->starts[k].coordinate < loader->model->coordinate_count &&
                   loader->starts[k].state == PAWL_DEFINITION_NEW;
      s.waiting[0] = k;
      s.count = ready ? 1 : 0;
      while (s.count > 0) {
        s.count -= settle_last(&s);
      }
    }
  }
  pawl_arena_free(&arena);
}

// ---- coordinates --------------------------------------------------------------------------------

void pawl_load_guess(PawlLoader* loader, const PawlYaml* text, PawlCoordinate* coordinate) {
  static const char* const words[] = {"true", "false", "start", "rate", NULL};
  int word = pawl_load_word(loader, text, "guess", words);
  coordinate->guess[0] = word == 0 || word == 2;
  coordinate->guess[1] = word == 0 || word == 3;
}

// A mistake in a start or rate is reported; the coordinate is there all the same, so that uses of
// its name stay good.
static void read_map(PawlLoader* loader, PawlYaml* map, const PawlScope* scope, int number,
                     PawlCoordinate* coordinate) {
  static const char* const keys[] = {"start", "rate", "guess", "unit", "kind", NULL};
  if (loader->known_keys != map) {  // once for a family
    pawl_yaml_check_keys(&loader->report, map, "a coordinate", keys);
    loader->known_keys = map;
  }
  for (PawlYaml* child = map->first; child; child = child->next) {
    const char* key = child->key->text;
    if (strcmp(key, "start") == 0) {
      read_start(loader, child, scope, number, false, &coordinate->start);
    } else if (strcmp(key, "rate") == 0) {
      read_start(loader, child, scope, number, true, &coordinate->rate);
    } else if (strcmp(key, "guess") == 0) {
      pawl_load_guess(loader, child, coordinate);
    } else if (strcmp(key, "unit") == 0) {
      pawl_load_text(loader, child, &coordinate->unit);
    } else if (strcmp(key, "kind") == 0) {  // that of rotations is not read here
      static const char* const kinds[] = {"number", "rotation", NULL};
      pawl_load_word(loader, child, "kind", kinds);
    }
  }
}

int pawl_add_coordinate(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  if (!PAWL_ROOM(loader, entry->key, model->coordinates, loader->coordinate_capacity,
                 model->coordinate_count)) {
    return -1;
  }
  int mistakes = loader->report.count;
  PawlCoordinate coordinate = {.unit = "", .source = pawl_loader_source(loader, entry->key)};
  PawlYaml* value = entry->value;
  if (value && value->kind == PAWL_YAML_MAP) {
    read_map(loader, value, &at->scope, model->coordinate_count, &coordinate);
  } else if (value && !pawl_yaml_is_null(value)) {
    read_start(loader, value, &at->scope, model->coordinate_count, false, &coordinate.start);
  }
  coordinate.name = pawl_element_name(&loader->kept, entry->family, at->value);
  if (!coordinate.name) {
    pawl_loader_no_memory(loader);
    return -1;
  }
  model->coordinates[model->coordinate_count] = coordinate;
  // The rest of a family would repeat the mistake; without it the family counts as failed.
  bool repeat = entry->family->dimension > 0 && loader->report.count > mistakes;
  int number = model->coordinate_count++;
  return repeat ? -1 : number;
}
