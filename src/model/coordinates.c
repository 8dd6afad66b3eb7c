// SPDX-License-Identifier: Apache-2.0
// `coordinates:` what moves, and where it starts.
#include <string.h>

#include "model/loader.h"

// A mistake in a start or rate is reported; the coordinate is there all the same, so that uses of
// its name stay good.
static void read_map(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                     PawlCoordinate* coordinate) {
  static const char* const keys[] = {"start", "rate", "unit", NULL};
  pawl_yaml_check_keys(&loader->report, map, "a coordinate", keys);
  for (PawlYaml* child = map->first; child; child = child->next) {
    const char* key = child->key->text;
    if (strcmp(key, "start") == 0) {
      pawl_value(loader, child, scope, &coordinate->start);
    } else if (strcmp(key, "rate") == 0) {
      pawl_value(loader, child, scope, &coordinate->rate);
    } else if (strcmp(key, "unit") == 0) {
      pawl_load_text(loader, child, &coordinate->unit);
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
    read_map(loader, value, &at->scope, &coordinate);
  } else if (value && !pawl_yaml_is_null(value)) {
    pawl_value(loader, value, &at->scope, &coordinate.start);
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
