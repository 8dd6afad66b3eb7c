// SPDX-License-Identifier: Apache-2.0
// `contacts:`, `events:` and `outputs:`: what is watched while the model moves.
#include "model/loader.h"

static const PawlUse gap_use = {"the gap of a contact", PAWL_MAY_Q | PAWL_MAY_T, NULL};
static const PawlUse output_use = {
    "an output",
    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_CONTACT, NULL};

static const char* new_name(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  const char* name = pawl_element_name(&loader->kept, entry->family, at->value);
  if (!name) {
    pawl_loader_no_memory(loader);
  }
  return name;
}

// ---- contacts -------------------------------------------------------------------------------

static bool load_restitution(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                             PawlContact* contact) {
  if (!text) {
    return true;
  }
  if (!pawl_value(loader, text, scope, &contact->restitution)) {
    return false;
  }
  if (contact->restitution < 0.0 || contact->restitution > 1.0) {
    pawl_report(&loader->report, text, "the restitution of '%s' is %g, must be in [0, 1]",
                pawl_quote(contact->name).s, contact->restitution);
    return false;
  }
  return true;
}

static bool load_contact(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                         PawlContact* contact) {
  static const char* const keys[] = {"gap", "restitution", NULL};
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "a contact is a map: {gap: expression, restitution: e}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a contact", keys);
  good &= load_restitution(loader, pawl_yaml_get(body, "restitution"), scope, contact);
  PawlYaml* gap = pawl_yaml_get(body, "gap");
  if (!gap) {
    pawl_report(&loader->report, body, "the contact '%s' needs gap:", pawl_quote(contact->name).s);
    return false;
  }
  return pawl_expression(loader, gap, scope, &gap_use, &contact->gap) && good;
}

static int add_contact(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlContact contact = {.name = new_name(loader, entry, at),
                         .source = pawl_loader_source(loader, entry->key)};
  if (!contact.name || !load_contact(loader, entry->value, &at->scope, &contact) ||
      !PAWL_ROOM(loader, entry->key, model->contacts, loader->contact_capacity,
                 model->contact_count)) {
    return -1;
  }
  model->contacts[model->contact_count] = contact;
  return model->contact_count++;
}

void pawl_load_contacts(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "contacts")) {
    pawl_declare(loader, section, &loader->contacts, &loader->constraints, PAWL_NAME_CONTACT,
                 add_contact);
  }
}

// ---- events ---------------------------------------------------------------------------------

static bool load_event(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                       PawlEventDef* event) {
  static const char* const keys[] = {"when", "at", "direction", "after", "stop", NULL};
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "an event is a map: {when: expression, ...} or {at: time}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "an event", keys);
  good &= pawl_load_trigger(loader, body, scope, &event->trigger);
  const PawlYaml* stop = pawl_yaml_get(body, "stop");
  good &= !stop || pawl_flag(loader, stop, &event->stop);
  if (!pawl_yaml_get(body, "when") && !pawl_yaml_get(body, "at")) {
    pawl_report(&loader->report, body,
                "the event '%s' needs when: or at:", pawl_quote(event->name).s);
    return false;
  }
  return good;
}

static int add_event(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlEventDef event = {.name = new_name(loader, entry, at),
                        .source = pawl_loader_source(loader, entry->key)};
  if (!event.name || !load_event(loader, entry->value, &at->scope, &event) ||
      !PAWL_ROOM(loader, entry->key, model->events, loader->event_capacity, model->event_count)) {
    return -1;
  }
  model->events[model->event_count] = event;
  return model->event_count++;
}

void pawl_load_events(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "events")) {
    pawl_declare(loader, section, &loader->events, NULL, PAWL_NAME_EVENT, add_event);
  }
}

// ---- outputs --------------------------------------------------------------------------------

static bool load_output(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                        PawlOutput* output) {
  static const char* const keys[] = {"value", "unit", NULL};
  PawlYaml* text = body;
  output->unit = "";
  if (body->kind == PAWL_YAML_MAP) {
    PawlYaml* unit = pawl_yaml_get(body, "unit");
    text = pawl_yaml_get(body, "value");
    if (!pawl_yaml_check_keys(&loader->report, body, "an output", keys) ||
        (unit && !pawl_load_text(loader, unit, &output->unit))) {
      return false;
    }
    if (!text) {
      pawl_report(&loader->report, body,
                  "the output '%s' needs value:", pawl_quote(output->name).s);
      return false;
    }
  }
  unsigned contains;
  bool good = pawl_expression_contains(loader, text, scope, &output_use, &output->node, &contains);
  output->reacts = contains & (PAWL_MAY_A | PAWL_MAY_LAMBDA);
  output->of_contact = contains & PAWL_MAY_CONTACT;
  return good;
}

static int add_output(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlOutput output = {.name = new_name(loader, entry, at),
                       .source = pawl_loader_source(loader, entry->key)};
  if (!output.name || !load_output(loader, entry->value, &at->scope, &output) ||
      !PAWL_ROOM(loader, entry->key, model->outputs, loader->output_capacity,
                 model->output_count)) {
    return -1;
  }
  model->outputs[model->output_count] = output;
  return model->output_count++;
}

void pawl_load_outputs(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "outputs")) {
    pawl_declare(loader, section, &loader->outputs, &loader->names, PAWL_NAME_OUTPUT, add_output);
  }
}
