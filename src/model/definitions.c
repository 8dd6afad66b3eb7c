// SPDX-License-Identifier: Apache-2.0
// `define:` names for intermediate expressions, in any order and in terms of each other.
//
// A definition is built by trying. When it meets others that are not built yet, the result is
// thrown away, those are built first, and it is tried again. The ones that wait are on a stack of
// our own, so neither a long recursive family (X[i]: X[i-1] + ...) nor a long chain of names needs
// a deep call stack. A definition that meets one that waits for it has closed a cycle.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expression.h"

typedef struct Waiting {
  int number;
  bool opened;  // tried, and waits for those above it on the stack
} Waiting;

typedef struct Stack {
  Waiting* item;
  int count, capacity;
} Stack;

int pawl_add_definition(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  if (!PAWL_ROOM(loader, entry->key, loader->definitions, loader->definition_capacity,
                 loader->definition_count)) {
    return -1;
  }
  PawlDefinition* definition = &loader->definitions[loader->definition_count];
  *definition = (PawlDefinition){.family = entry->family, .key = entry->key, .value = entry->value};
  memcpy(definition->index, at->value, sizeof definition->index);
  return loader->definition_count++;
}

bool pawl_definition_ready(PawlLoader* loader, int number, bool* ready, PawlExprError* error) {
  PawlDefinition* definition = &loader->definitions[number];
  *ready = definition->state == PAWL_DEFINITION_DONE;
  if (definition->state != PAWL_DEFINITION_NEW && definition->state != PAWL_DEFINITION_OPEN) {
    return true;
  }
  if (PAWL_GROW(loader->pending, loader->pending_capacity, loader->pending_count + 1) != 0) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return pawl_loader_no_memory(loader);
  }
  loader->pending[loader->pending_count++] = number;
  return true;
}

static bool push(PawlLoader* loader, Stack* stack, int number) {
  if (PAWL_GROW(stack->item, stack->capacity, stack->count + 1) != 0) {
    return pawl_loader_no_memory(loader);
  }
  stack->item[stack->count++] = (Waiting){.number = number};
  return true;
}

static const char* name_of(PawlLoader* loader, int number) {
  const PawlDefinition* definition = &loader->definitions[number];
  const char* name = pawl_element_name(&loader->pool, definition->family, definition->index);
  if (!name) {
    pawl_loader_no_memory(loader);
  }
  return name ? name : "?";
}

// The cycle runs from `number` up the stack and back: a -> b -> a. A long one is shown in part.
static void report_cycle(PawlLoader* loader, const Stack* stack, int number) {
  enum { SHOWN = 8 };
  int first = stack->count - 1;
  while (first > 0 && !(stack->item[first].number == number && stack->item[first].opened)) {
    first--;
  }
  PawlText text = {0};
  int shown = 0;
  for (int k = first; k < stack->count; k++) {
    if (stack->item[k].opened && ++shown <= SHOWN) {
      pawl_text_printf(&text, "%s -> ", pawl_quote(name_of(loader, stack->item[k].number)).s);
    }
  }
  pawl_text_printf(&text, "%s%s", shown > SHOWN ? "... -> " : "",
                   pawl_quote(name_of(loader, number)).s);
  if (text.failed) {
    pawl_loader_no_memory(loader);
  } else {
    pawl_report(&loader->report, loader->definitions[number].key, "the definition uses itself: %s",
                text.s);
  }
  pawl_text_free(&text);
}

// Builds one definition as far as it goes. Returns its new state; OPEN with `pending` filled.
static PawlDefinitionState attempt(PawlLoader* loader, int number) {
  PawlDefinition* definition = &loader->definitions[number];
  const PawlAstKey* key = pawl_key(loader, definition->key);
  if (!key) {
    return PAWL_DEFINITION_FAILED;
  }
  PawlScope scope = pawl_scope_at(key, definition->index);
  PawlMatrix what;
  unsigned contains;
  loader->pending_count = 0;
  if (!pawl_shaped(loader, definition->value, &scope, &PAWL_USE_DEFINITION, &what, &contains)) {
    return PAWL_DEFINITION_FAILED;
  }
  if (loader->pending_count > 0) {
    return PAWL_DEFINITION_OPEN;
  }
  definition->what = what;
  definition->contains = contains;
  return PAWL_DEFINITION_DONE;
}

// Puts what the topmost definition needs on top of it; false when that closes a cycle.
static bool push_pending(PawlLoader* loader, Stack* stack) {
  for (int k = 0; k < loader->pending_count; k++) {
    int number = loader->pending[k];
    if (loader->definitions[number].state == PAWL_DEFINITION_OPEN) {
      report_cycle(loader, stack, number);
      return false;
    }
  }
  for (int k = 0; k < loader->pending_count; k++) {
    if (!push(loader, stack, loader->pending[k])) {
      return false;
    }
  }
  return true;
}

static void build(PawlLoader* loader, Stack* stack, int number) {
  stack->count = 0;
  if (!push(loader, stack, number)) {
    return;
  }
  while (stack->count > 0) {
    Waiting* top = &stack->item[stack->count - 1];
    PawlDefinition* definition = &loader->definitions[top->number];
    bool settled =
        definition->state == PAWL_DEFINITION_DONE || definition->state == PAWL_DEFINITION_FAILED;
    if (!settled) {
      definition->state = PAWL_DEFINITION_OPEN;
      top->opened = true;
      definition->state = attempt(loader, top->number);
      if (definition->state == PAWL_DEFINITION_OPEN && !push_pending(loader, stack)) {
        definition->state = PAWL_DEFINITION_FAILED;
      }
    } else {
      stack->count--;
    }
  }
}

void pawl_build_definitions(PawlLoader* loader) {
  Stack stack = {0};
  for (int k = 0; k < loader->definition_count; k++) {
    if (loader->definitions[k].state == PAWL_DEFINITION_NEW) {
      build(loader, &stack, k);
    }
  }
  pawl_free(stack.item);
}
