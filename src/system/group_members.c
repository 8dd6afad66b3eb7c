// SPDX-License-Identifier: Apache-2.0
// Members of families: what has the form of another term or constraint with other coordinates gets
// its items from those of that one (the model of the family), slot by slot. Parameters are the same
// numbers in all of them, and forms decide on every rule, so folding and encoding each member would
// give the same shapes; only what is needed otherwise is folded.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/group_impl.h"

enum { MOST_PLACES = 24 };  // of a member, all of its rows together

typedef struct Places {
  int count;
  int at[MOST_PLACES];
} Places;

static void add_places(const PawlModel* model, PawlMember member, Places* places) {
  int count = member.recipe > 0 ? model->recipes[member.recipe].place_count : 0;
  bool fits = member.recipe > 0 && places->count >= 0 && places->count + count <= MOST_PLACES;
  if (fits && count > 0) {
    memcpy(places->at + places->count, model->places + member.first, (size_t)count * sizeof(int));
  }
  places->count = fits ? places->count + count : -1;
}

// The places of a term or of all rows of a constraint; count -1: it is no member.
static Places places_of(const PawlModel* model, int term, int constraint) {
  Places places = {0};
  if (term >= 0) {
    add_places(model, model->terms[term].member, &places);
    return places;
  }
  const PawlMode* mode = &model->constraints[constraint].modes[0];
  for (int k = 0; k < mode->row_count; k++) {
    add_places(model, mode->rows[k].member, &places);
  }
  return places;
}

// Places that are the same in one are the same in the other.
static bool same_pattern(const Places* x, const Places* y) {
  bool same = x->count == y->count;
  for (int a = 1; same && a < x->count; a++) {
    for (int b = 0; b < a; b++) {
      same &= (x->at[a] == x->at[b]) == (y->at[a] == y->at[b]);
    }
  }
  return same;
}

static bool is_plain(const PawlConstraint* c) {
  return c->mode_count == 1 && !c->triggered && c->modes[0].row_count > 0;
}

static bool same_rows(const PawlMode* x, const PawlMode* y) {
  bool same = x->row_count == y->row_count && x->rate == y->rate;
  for (int k = 0; same && k < x->row_count; k++) {
    same = x->rows[k].member.recipe == y->rows[k].member.recipe;
  }
  return same;
}

// ---- who is a member of what --------------------------------------------------------------------
// Kinks are counted one by one, so a member with one is taken by itself. What is built later has
// none.
static bool has_turn(const PawlSorter* s, PawlNode node) {
  return s->turned && node >= 0 && s->turned[node];
}

static bool turns_in(const PawlSorter* s, int term, int constraint) {
  const PawlModel* model = s->system->model;
  if (term >= 0) {
    return has_turn(s, model->terms[term].node);
  }
  bool turns = false;
  const PawlMode* mode = model->constraints[constraint].modes;
  for (int k = 0; k < mode->row_count; k++) {
    turns |= has_turn(s, mode->rows[k].node);
  }
  return turns;
}

static bool same_form(const PawlModel* model, bool terms, int k, int first) {
  return terms ? model->terms[k].kind == model->terms[first].kind
               : same_rows(model->constraints[k].modes, model->constraints[first].modes);
}

// like[k]: the first of its recipe, itself for that one; -1: it is by itself. `first_of` and `size`
// are by recipe, that of the first row of a constraint.
static void find_likes(PawlSorter* s, bool terms, int count, int* like, int* first_of, int* size) {
  const PawlModel* model = s->system->model;
  Places its = {0};
  int its_of = -1;
  for (int pass = 0; pass < 2; pass++) {  // families that are too small are known at the end
    for (int k = 0; k < count; k++) {
      bool plain = terms || is_plain(&model->constraints[k]);
      PawlMember member = terms   ? model->terms[k].member
                          : plain ? model->constraints[k].modes[0].rows[0].member
                                  : (PawlMember){0};
      int* first = &first_of[member.recipe];
      if (pass == 1) {
        like[k] = like[k] >= 0 && size[like[k]] < PAWL_FEWEST_LANES ? -1 : like[k];
        continue;
      }
      int term = terms ? k : -1, constraint = terms ? -1 : k;
      Places mine = {.count = -1};
      if (plain && member.recipe > 0) {
        mine = places_of(model, term, constraint);
      }
      bool may = mine.count >= 0 && !turns_in(s, term, constraint);
      *first = may && *first < 0 ? k : *first;
      if (may && its_of != *first) {
        its = places_of(model, terms ? *first : -1, terms ? -1 : *first);
        its_of = *first;
      }
      bool fits = may && same_form(model, terms, k, *first) && same_pattern(&mine, &its);
      like[k] = fits ? *first : -1;
      size[k] = 0;
      if (fits) {
        size[*first]++;
      }
    }
  }
}

// Nodes under which a kink has a turn.
static int mark_turned(PawlSorter* s) {
  const PawlSystem* system = s->system;
  const PawlDag* dag = system->model->dag;
  int turns = system->turn_count + system->kink_count + system->timed_count;
  int count = pawl_dag_count(dag);
  if (turns == 0) {
    return 0;
  }
  s->turned = pawl_alloc((size_t)count, 1);
  if (!s->turned) {
    return -1;
  }
  for (int k = 0; k < turns; k++) {
    s->turned[system->turns[k].node] = 1;
  }
  for (int k = 0; k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, k);
    for (int a = 0; a < pawl_op_operands(node->op); a++) {
      s->turned[k] |= s->turned[node->arg[a]];
    }
  }
  return 0;
}

// Those that are by themselves are built now.
static bool build_others(PawlSorter* s) {
  const PawlModel* model = s->system->model;
  bool good = true;
  for (int k = 0; good && k < model->term_count; k++) {
    PawlTerm* term = &model->terms[k];
    good = pawl_group_is_copy(s->term_like, k) ||
           pawl_model_node(model, &term->node, term->member) != PAWL_NO_NODE;
  }
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlConstraint* constraint = &model->constraints[c];
    bool copy = pawl_group_is_copy(s->constraint_like, c);
    for (int m = 0; !copy && m < constraint->mode_count; m++) {
      PawlMode* mode = &constraint->modes[m];
      for (int k = 0; good && k < mode->row_count; k++) {
        PawlRow* row = &mode->rows[k];
        good = pawl_model_node(model, &row->node, row->member) != PAWL_NO_NODE;
      }
    }
  }
  return good;
}

PawlStatus pawl_group_find_members(PawlSorter* s, PawlError* err) {
  const PawlModel* model = s->system->model;
  int terms = model->term_count, constraints = model->constraint_count;
  int most = terms > constraints ? terms : constraints, recipes = model->recipe_count + 1;
  s->term_like = pawl_alloc((size_t)terms, sizeof(int));
  s->constraint_like = pawl_alloc((size_t)constraints, sizeof(int));
  s->term_items = pawl_alloc((size_t)terms + 1, sizeof(int));
  s->constraint_items = pawl_alloc((size_t)constraints + 1, sizeof(int));
  int* first_of = pawl_alloc((size_t)recipes, sizeof(int));
  int* size = pawl_alloc((size_t)most, sizeof(int));
  bool good = s->term_like && s->constraint_like && s->term_items && s->constraint_items &&
              first_of && size && mark_turned(s) == 0;
  for (int pass = 0; good && pass < 2; pass++) {
    memset(first_of, -1, (size_t)recipes * sizeof(int));
    if (pass == 0) {
      find_likes(s, true, terms, s->term_like, first_of, size);
    } else {
      find_likes(s, false, constraints, s->constraint_like, first_of, size);
    }
  }
  pawl_free(first_of);
  pawl_free(size);
  good = good && build_others(s);
  return good ? PAWL_OK : pawl_fail_memory(err);
}

// ---- what is needed for all others --------------------------------------------------------------
static void need(unsigned char* needed, PawlNode node) {
  if (node != PAWL_NO_NODE) {
    needed[node] = 1;
  }
}

static void need_trigger(unsigned char* needed, const PawlTrigger* trigger) {
  need(needed, trigger->when);
}

static void need_constraint(const PawlConstraint* c, bool member, unsigned char* needed) {
  for (int m = 0; m < c->mode_count; m++) {
    need(needed, c->modes[m].where);
    for (int k = 0; !member && k < c->modes[m].row_count; k++) {
      need(needed, c->modes[m].rows[k].node);
    }
  }
  need_trigger(needed, &c->switching->engage);
  need_trigger(needed, &c->switching->release);
  need(needed, c->switching->capacity);
  need(needed, c->switching->friction);
  need(needed, c->snap_to);
}

static void need_others(const PawlSystem* system, unsigned char* needed) {
  const PawlModel* model = system->model;
  for (int k = 0; k < model->state_count; k++) {
    need(needed, model->states[k].rate);
  }
  for (int k = 0; k < model->contact_count; k++) {
    const PawlContact* contact = &model->contacts[k];
    need(needed, contact->gap);
    need(needed, contact->friction);
    for (int i = 0; i < contact->slip_count; i++) {
      need(needed, contact->slip[i]);
    }
  }
  for (int k = 0; k < model->output_count; k++) {
    need(needed, model->outputs[k].node);
  }
  for (int k = 0; k < model->event_count; k++) {
    need_trigger(needed, &model->events[k].trigger);
  }
  for (int k = 0; k < model->impulse_count; k++) {
    need(needed, model->impulses[k].node);
  }
  for (int k = 0; k < model->set_count; k++) {
    need(needed, model->sets[k].node);
  }
  for (int k = 0; k < system->turn_count + system->kink_count + system->timed_count; k++) {
    need(needed, system->turns[k].node);
  }
}

void pawl_group_find_needed(const PawlSorter* s, unsigned char* needed) {
  const PawlModel* model = s->system->model;
  for (int k = 0; k < model->term_count; k++) {
    if (!pawl_group_is_copy(s->term_like, k)) {
      need(needed, model->terms[k].node);
    }
  }
  for (int c = 0; c < model->constraint_count; c++) {
    need_constraint(&model->constraints[c], pawl_group_is_copy(s->constraint_like, c), needed);
  }
  need_others(s->system, needed);
  for (int k = pawl_dag_count(model->dag) - 1; k >= 0; k--) {
    const PawlDagNode* node = pawl_dag_node(model->dag, k);
    for (int a = 0; needed[k] && a < pawl_op_operands(node->op); a++) {
      needed[node->arg[a]] = 1;
    }
  }
}

// ---- items --------------------------------------------------------------------------------------
int pawl_group_copy_items(PawlSorter* s, int term, int constraint) {
  int like = term >= 0 ? s->term_like[term] : s->constraint_like[constraint];
  const int* first = term >= 0 ? s->term_items : s->constraint_items;
  int count = first[like + 1] - first[like];
  if (PAWL_GROW(s->likes, s->like_capacity, s->like_count + count) != 0) {
    return -1;
  }
  for (int k = first[like]; k < first[like + 1]; k++) {
    s->likes[s->like_count++] = (PawlLike){k, term >= 0 ? term : -1 - constraint, -1};
  }
  return 0;
}

// ---- slots --------------------------------------------------------------------------------------
// Where the coordinate of a slot stands among the places: 4 times that, plus which velocity of a
// rotation it is; or, for a coordinate that all members have in common, -1 minus that.
static int source_of(const PawlModel* model, const Places* places, int coordinate) {
  for (int p = 0; p < places->count; p++) {
    int offset = coordinate - places->at[p];
    bool turns = pawl_model_spin(model, places->at[p]) >= 0;
    if (offset == 0 || (turns && offset > 0 && offset < 3)) {
      return 4 * p + offset;
    }
  }
  return -1 - coordinate;
}

int pawl_group_list_sources(PawlSorter* s, int item, int term, int constraint) {
  const PawlModel* model = s->system->model;
  PawlPlaced* placed = &s->items[item];
  Places places = places_of(model, term, constraint);
  if (PAWL_GROW(s->sources, s->source_capacity, s->source_count + placed->coordinate_count) != 0) {
    return -1;
  }
  placed->sources = s->source_count;
  for (int c = 0; c < placed->coordinate_count; c++) {
    int coordinate = s->coordinates[placed->coordinates + c];
    s->sources[s->source_count++] = source_of(model, &places, coordinate);
  }
  return 0;
}

int pawl_group_target(const PawlSorter* s, const PawlLike* like) {
  const PawlModel* model = s->system->model;
  return like->member == PAWL_NO_MEMBER ? s->items[like->item].item.target
         : like->member >= 0            ? model->terms[like->member].target
                                        : model->constraints[-1 - like->member].first_row;
}

void pawl_group_bind(const PawlSorter* s, const PawlLike* like, int lanes, int* coordinates,
                     int* rows) {
  const PawlPlaced* placed = &s->items[like->item];
  bool member = like->member != PAWL_NO_MEMBER;
  int moved = member ? pawl_group_target(s, like) - placed->item.target : 0;
  Places places = {0};
  if (member) {
    places = places_of(s->system->model, like->member, -1 - like->member);
  }
  for (int c = 0; c < placed->coordinate_count; c++) {
    int source = member ? s->sources[placed->sources + c] : -1;
    coordinates[c * lanes] = !member      ? s->coordinates[placed->coordinates + c]
                             : source < 0 ? -1 - source
                                          : places.at[source / 4] + source % 4;
  }
  for (int r = 0; r < placed->row_count; r++) {
    rows[r * lanes] = s->rows[placed->rows + r] + moved;
  }
}
