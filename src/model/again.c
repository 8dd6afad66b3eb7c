// SPDX-License-Identifier: Apache-2.0
// Building the members of a family again and again. The first one is built from its tree while its
// steps are noted (expr/recipe.h), with the names that have indices (looks), the elements that
// these stood for (places), and the conditions on indices that chose a branch (decisions). For the
// next one the indices are computed, and if they lead to elements that are the same where they were
// the same, and different where they were different, and all conditions decide as they did, the
// steps are followed. Whatever does not fit is built from the tree, and noted anew.
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expression_impl.h"

enum {
  MOST_LOOKS = 64,
  MOST_DECISIONS = 16,
  MOST_RECIPES = 4,    // of one text: edges and corners of a family differ from its inside
  MOST_MISSES = 1000,  // after which a text is no longer noted
  FIRST_LATER = 64     // members of a family that are built at once: small models are complete
};

// An index: the value of a variable of the scope plus a number; or, where it is more, its tree.
typedef struct Index {
  int variable;  // -1: none
  int offset;
  const PawlAst* tree;
} Index;

typedef struct Look {
  const PawlFamily* family;
  int place, count;
  Index index[PAWL_MAX_INDICES];
} Look;

typedef struct Place {  // an element of some kind
  PawlNameKind kind;
  int element;
} Place;

typedef struct Decision {
  const PawlAst* condition;
  bool holds;
} Decision;

struct PawlAgain {
  struct PawlAgain* next;
  int number;        // of the recipe in the model; 0: places other than coordinates occur
  bool smooth;       // members may be built later
  long long others;  // members that were built by it
  const PawlUse* use;
  PawlRecipe* recipe;
  PawlMatrix what;  // its nodes are those of the member built last
  unsigned contains;
  int rounds;  // of PAWL_MODEL_MAX_ROUNDS, spent while it was built
  int scope_count, look_count, place_count, decision_count;
  Look* looks;
  Place* places;
  Decision* decisions;
  int *now, *moved;  // by place: its present element, and by how much its coordinate has moved
};

typedef struct PawlNotes {
  bool failed;  // more than elements decides on what is built
  PawlTrace trace;
  const PawlScope* scope;
  long long rounds;
  int look_count, place_count, decision_count;
  Look looks[MOST_LOOKS];
  Place places[MOST_LOOKS];
  Decision decisions[MOST_DECISIONS];
} PawlNotes;

void pawl_notes_destroy(PawlNotes* notes) {
  if (notes) {
    pawl_trace_free(&notes->trace);
    pawl_free(notes);
  }
}

// ---- noting -------------------------------------------------------------------------------------
void pawl_again_begin(PawlBuild* build, PawlDag* dag, const PawlParsed* parsed) {
  PawlLoader* loader = build->loader;
  if (parsed->misses > MOST_MISSES) {
    return;
  }
  loader->spare_notes =
      loader->spare_notes ? loader->spare_notes : pawl_alloc(1, sizeof(PawlNotes));
  loader->notes = loader->spare_notes;
  if (!loader->notes) {
    return;  // what is not noted is built all the same
  }
  PawlNotes* notes = loader->notes;
  notes->failed = false;
  notes->scope = build->scope;
  notes->rounds = loader->rounds;
  notes->look_count = notes->place_count = notes->decision_count = 0;
  pawl_dag_trace(dag, &notes->trace);
}

void pawl_again_refuse(const PawlBuild* build) {
  if (build->loader->notes) {
    build->loader->notes->failed = true;
  }
}

void pawl_again_decided(const PawlBuild* build, const PawlAst* condition, bool holds) {
  PawlNotes* notes = build->loader->notes;
  if (!notes || build->inside) {  // a function knows no indices
    return;
  }
  if (notes->decision_count == MOST_DECISIONS) {
    notes->failed = true;
    return;
  }
  notes->decisions[notes->decision_count++] = (Decision){condition, holds};
}

static int variable_of(const PawlScope* scope, const PawlAst* ast) {
  for (int k = 0; ast->kind == PAWL_AST_NAME && ast->arg_count == 0 && k < scope->count; k++) {
    if (strcmp(scope->name[k], ast->name) == 0) {
      return k;
    }
  }
  return -1;
}

static bool is_whole(const PawlAst* ast, int* whole) {
  return ast->kind == PAWL_AST_NUMBER && pawl_to_whole(ast->value, whole);
}

// i, 3, i + 1, i - 1; others by their tree.
static Index index_of(const PawlScope* scope, const PawlAst* ast) {
  int whole = 0;
  bool sum = ast->kind == PAWL_AST_OPERATE && (ast->op == PAWL_OP_ADD || ast->op == PAWL_OP_SUB) &&
             ast->arg_count == 2 && variable_of(scope, ast->args[0]) >= 0 &&
             is_whole(ast->args[1], &whole);
  if (sum) {
    return (Index){variable_of(scope, ast->args[0]), ast->op == PAWL_OP_ADD ? whole : -whole, NULL};
  }
  if (is_whole(ast, &whole)) {
    return (Index){-1, whole, NULL};
  }
  int variable = variable_of(scope, ast);
  return (Index){variable, 0, variable < 0 ? ast : NULL};
}

static int place_of(PawlNotes* notes, PawlNameKind kind, int element) {
  for (int k = 0; k < notes->place_count; k++) {
    if (notes->places[k].kind == kind && notes->places[k].element == element) {
      return k;
    }
  }
  notes->places[notes->place_count] = (Place){kind, element};
  return notes->place_count++;
}

void pawl_again_look(const PawlBuild* build, const PawlAst* ast, const PawlFamily* family,
                     int element) {
  PawlNotes* notes = build->loader->notes;
  if (!notes || ast->arg_count == 0) {
    return;  // a plain name is the same for all members
  }
  if (build->inside || notes->look_count == MOST_LOOKS) {
    notes->failed = true;
    return;
  }
  Look* look = &notes->looks[notes->look_count++];
  *look = (Look){family, place_of(notes, family->kind, element), ast->arg_count, {{0}}};
  for (int k = 0; k < ast->arg_count; k++) {
    look->index[k] = index_of(notes->scope, ast->args[k]);
  }
  notes->trace.place = look->place;
}

void pawl_again_looked(const PawlBuild* build) {
  if (build->loader->notes) {
    build->loader->notes->trace.place = -1;
  }
}

// ---- members ------------------------------------------------------------------------------------
static void* keep(PawlPool* pool, const void* from, int count, size_t size) {
  void* kept = pawl_pool_alloc(pool, (size_t)count * size);
  if (kept && count > 0) {
    memcpy(kept, from, (size_t)count * size);
  }
  return kept;
}

static int coordinate_of(const PawlModel* model, PawlNameKind kind, int element) {
  return kind == PAWL_NAME_ROTATION ? model->turning + 3 * element : element;
}

// A new recipe of the model; 0 where it has none, or memory is short.
static int number_recipe(PawlLoader* loader, const PawlNotes* notes, PawlRecipe* recipe,
                         const PawlMatrix* what) {
  PawlModel* model = loader->model;
  int count = notes->place_count;
  int* base = pawl_pool_alloc(&loader->kept, (size_t)count * sizeof *base);
  PawlNode* nodes = keep(&loader->kept, what->at, pawl_matrix_count(what), sizeof *nodes);
  for (int p = 0; base && p < count; p++) {
    PawlNameKind kind = notes->places[p].kind;
    if (kind != PAWL_NAME_COORDINATE && kind != PAWL_NAME_ROTATION) {
      return 0;
    }
    base[p] = coordinate_of(model, kind, notes->places[p].element);
  }
  if (!base || !nodes ||
      PAWL_GROW(model->recipes, loader->recipe_capacity, model->recipe_count + 2) != 0) {
    return 0;
  }
  model->recipes[++model->recipe_count] = (PawlRecipeOf){recipe, count, base, nodes};
  return model->recipe_count;
}

bool pawl_member(PawlLoader* loader, const PawlAgain* built, int coordinate, PawlMember* member) {
  PawlModel* model = loader->model;
  *member = (PawlMember){0};
  if (!built || built->number == 0) {
    return true;
  }
  int count = built->place_count + (coordinate >= 0);
  long long room =
      model->place_count + (long long)count * (loader->coming > 1 ? loader->coming : 1);
  bool fits =
      model->place_count + count <= loader->place_capacity ||
      (room < INT_MAX / 2 && PAWL_GROW(model->places, loader->place_capacity, (int)room) == 0);
  if (!fits && PAWL_GROW(model->places, loader->place_capacity, model->place_count + count) != 0) {
    return pawl_loader_no_memory(loader);
  }
  *member = (PawlMember){built->number, model->place_count, 0};
  for (int p = 0; p < built->place_count; p++) {
    model->places[model->place_count++] =
        coordinate_of(model, built->places[p].kind, built->now[p]);
  }
  if (coordinate >= 0) {
    model->places[model->place_count++] = coordinate;
  }
  model->recipes[built->number].place_count = count;
  return true;
}

// ---- keeping what was noted ---------------------------------------------------------------------
static int length_of(const PawlAgain* again) {
  int length = 0;
  for (const PawlAgain* k = again; k; k = k->next) {
    length++;
  }
  return length;
}

static PawlAgain* from_notes(PawlBuild* build, PawlDag* dag, const PawlMatrix* what) {
  PawlLoader* loader = build->loader;
  PawlNotes* notes = loader->notes;
  PawlPool* pool = &loader->pool;
  PawlRecipe* recipe = notes->failed ? NULL
                                     : pawl_recipe_make(&loader->model->arena, dag, &notes->trace,
                                                        pawl_matrix_count(what), what->at);
  PawlAgain* again = recipe ? pawl_pool_alloc(pool, sizeof *again) : NULL;
  if (!again) {
    return NULL;
  }
  *again = (PawlAgain){.number = number_recipe(loader, notes, recipe, what),
                       .smooth = pawl_recipe_is_smooth(recipe, dag),
                       .use = build->use,
                       .recipe = recipe,
                       .what = *what,
                       .contains = build->contains,
                       .rounds = (int)(loader->rounds - notes->rounds),
                       .scope_count = notes->scope->count,
                       .look_count = notes->look_count,
                       .place_count = notes->place_count,
                       .decision_count = notes->decision_count};
  again->looks = keep(pool, notes->looks, notes->look_count, sizeof(Look));
  again->places = keep(pool, notes->places, notes->place_count, sizeof(Place));
  again->decisions = keep(pool, notes->decisions, notes->decision_count, sizeof(Decision));
  again->now = pawl_pool_alloc(pool, (size_t)notes->place_count * sizeof(int));
  again->moved = pawl_pool_alloc(pool, (size_t)notes->place_count * sizeof(int));
  bool complete = again->looks && again->places && again->decisions && again->now && again->moved;
  for (int p = 0; complete && p < notes->place_count; p++) {
    again->now[p] = notes->places[p].element;
  }
  return complete ? again : NULL;
}

void pawl_again_end(PawlBuild* build, PawlDag* dag, PawlParsed* parsed, const PawlMatrix* what,
                    bool good) {
  PawlLoader* loader = build->loader;
  if (!loader->notes) {
    return;
  }
  pawl_dag_trace(dag, NULL);
  PawlAgain* again = good && !pawl_is_shapeless(what) && length_of(parsed->again) < MOST_RECIPES
                         ? from_notes(build, dag, what)
                         : NULL;
  if (again) {
    again->next = parsed->again;
    parsed->again = again;
  }
  loader->built = again;
  parsed->misses++;
  loader->notes = NULL;
}

// ---- building by what was noted -----------------------------------------------------------------
static bool read_index(PawlBuild* build, const Index* index, int* value) {
  double number;
  if (!index->tree) {
    *value = index->offset + (index->variable < 0 ? 0 : build->scope->value[index->variable]);
    return true;
  }
  return pawl_build_number(build, index->tree, &number) && pawl_to_whole(number, value);
}

// The elements of the present indices; false where one is missing, or two that were the same are no
// longer, or two that were not are.
static bool find_elements(PawlBuild* build, PawlAgain* again) {
  for (int p = 0; p < again->place_count; p++) {
    again->now[p] = -1;
  }
  for (int k = 0; k < again->look_count; k++) {
    const Look* look = &again->looks[k];
    int index[PAWL_MAX_INDICES], *now = &again->now[look->place];
    for (int i = 0; i < look->count; i++) {
      if (!read_index(build, &look->index[i], &index[i])) {
        return false;
      }
    }
    int element = pawl_family_element(look->family, look->count, index);
    if (element < 0 || (*now >= 0 && *now != element)) {
      return false;
    }
    *now = element;
  }
  for (int p = 0; p < again->place_count; p++) {
    for (int r = 0; r < p; r++) {
      if (again->now[p] == again->now[r] && again->places[p].kind == again->places[r].kind) {
        return false;
      }
    }
    int stride = again->places[p].kind == PAWL_NAME_ROTATION ? 3 : 1;
    again->moved[p] = stride * (again->now[p] - again->places[p].element);
  }
  return true;
}

static bool decides(PawlBuild* build, const PawlAgain* again) {
  double value;
  for (int k = 0; k < again->decision_count; k++) {
    const Decision* d = &again->decisions[k];
    if (!pawl_build_number(build, d->condition, &value) || (value != 0.0) != d->holds) {
      return false;
    }
  }
  return true;
}

// Nobody needs more than the form of this member so far.
static int leave(PawlLoader* loader, PawlAgain* again) {
  for (int k = 0; k < pawl_matrix_count(&again->what); k++) {
    again->what.at[k] = PAWL_LATER;
    loader->model->later_count++;
  }
  return 1;
}

int pawl_again(PawlBuild* build, PawlDag* dag, const PawlYaml* text, PawlParsed* parsed,
               PawlMatrix* out) {
  PawlLoader* loader = build->loader;
  for (PawlAgain* again = parsed->again; again; again = again->next) {
    if (again->use != build->use || again->scope_count != build->scope->count ||
        !decides(build, again) || !find_elements(build, again)) {
      continue;
    }
    int followed = again->others >= FIRST_LATER && again->number > 0 && again->smooth &&
                           (build->use->may & PAWL_MAY_WAIT)
                       ? leave(loader, again)
                       : pawl_recipe_follow(again->recipe, dag, again->moved, true, again->what.at);
    again->others++;
    if (followed < 0) {
      pawl_loader_no_memory(loader);
      return -1;
    }
    if (followed > 0) {
      *out = again->what;
      build->contains |= again->contains;
      loader->built = again;
      return pawl_loader_spend(loader, text, again->rounds) ? 1 : -1;
    }
  }
  return 0;
}
