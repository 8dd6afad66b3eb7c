// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share while a model is being read. Functions that return bool give
// false after reporting the mistake (or noting that memory is short); the caller goes on with the
// next entry, so that one reading finds many mistakes.
#pragma once

#include "expr/ast.h"
#include "model/model.h"
#include "model/names.h"
#include "model/pool.h"
#include "model/report.h"
#include "model/urdf.h"
#include "model/yaml.h"

enum { PAWL_SCOPE_MAX = 12 };  // index variables visible at one place

typedef struct PawlScope {  // the index variables and their present values
  int count;
  const char* name[PAWL_SCOPE_MAX];
  int value[PAWL_SCOPE_MAX];
} PawlScope;
extern const PawlScope PAWL_SCOPE_EMPTY;

// ---- the loader -----------------------------------------------------------------------------

// A definition, or one element of a family of definitions.
typedef enum PawlDefinitionState {
  PAWL_DEFINITION_NEW,
  PAWL_DEFINITION_OPEN,  // waits for definitions that it uses
  PAWL_DEFINITION_DONE,
  PAWL_DEFINITION_FAILED
} PawlDefinitionState;
typedef struct PawlDefinition {
  PawlFamily* family;
  PawlYaml *key, *value;
  int index[PAWL_MAX_INDICES];
  PawlDefinitionState state;
  unsigned contains;  // PAWL_MAY_...: the kinds of leaves
  PawlMatrix what;
  PawlMatrix* derivative[2];  // first and second by time; NULL until asked for
} PawlDefinition;

// A constraint whose switching is read once the outputs, which it may watch, are known.
typedef struct PawlSwitchingTask {
  int constraint;
  PawlYaml *key, *body;
  int index[PAWL_MAX_INDICES];
} PawlSwitchingTask;

// A function of `functions:`, spring(x, k): its arguments and what it stands for.
typedef struct PawlUserFunction {
  const PawlAst* head;  // the call in its key: arguments are names
  PawlYaml *key, *value;
  PawlAst* body;
  const PawlAst* time;  // the first use of t in it, NULL without
  bool folded;          // pawl_fold_structure has seen it
  bool open;            // is being built: a use of itself closes a circle
} PawlUserFunction;

// A start or rate that uses other starts: evaluated when all coordinates and definitions are known.
typedef struct PawlStartTask {
  int coordinate;
  bool rate;
  PawlYaml* text;
  PawlScope scope;
  PawlDefinitionState state;
  PawlNode node;
} PawlStartTask;

// A derivative of the matrix of a rotation; no rows: none.
typedef struct PawlTurned {
  int number, primes;
  PawlMatrix R;
} PawlTurned;

typedef struct PawlLoader {
  PawlModel* model;
  PawlReport report;
  PawlRobotDef robot;   // how URDF is read
  PawlRemarks remarks;  // on what was
  PawlArena arena;      // the tree, parsed expressions, names: gone when the model is complete
  PawlPool pool;        // in that arena
  PawlPool kept;        // in the model's arena
  PawlDag* values;      // graph of what is only evaluated: parameters, starts, bounds
  struct PawlNotes *notes, *spare_notes;  // of the member being built (again.c); NULL: none
  const struct PawlAgain* built;          // what the last expression is a member of; NULL: none
  PawlTurned turned[8];                   // found last
  unsigned next_turned;
  PawlNames names;  // parameters, coordinates, definitions
  PawlNames outputs, constraints, contacts, events;
  PawlNames functions;  // and tables
  PawlUserFunction* user_functions;
  int user_function_count, user_function_capacity;
  bool judging;           // a value is only looked at: its parameters may change all the same
  bool names_incomplete;  // a declaration could not be read: an unknown name may be that one
  const PawlFamily* parameter_open;  // the one being evaluated
  long long rounds;                  // spent of PAWL_MODEL_MAX_ROUNDS
  long long parts;                   // rows, modes, points and times so far
  const PawlYaml* known_keys;        // the map whose keys were looked at last
  int coming;                        // elements of a kind that the family or loop may bring, or 0
  long long cells;                   // of the boxes of all families so far
  PawlDefinition* definitions;
  int definition_count, definition_capacity;
  int* pending;  // definitions that the expression being built still needs
  int pending_count, pending_capacity;
  PawlStartTask* starts;
  int start_count, start_capacity;
  struct PawlDemand *demands, *last_demand;  // demand.h
  bool has_robot;                            // URDF was read, and judged
  PawlYaml* scene;                           // of which rounds are to be read
  bool scene_read;                           // as far as there are no mistakes
  bool scene_made;                           // of bodies: its mistakes are those of others
  bool glances, glance_skips;                // rounds of the scene are left out, and have been
  int glance_rounds;                         // those that were not
  bool keeps;                                // some equation has states that its constraint sets
  PawlSwitching* no_switching;               // of constraints without; NULL before the first
  PawlSwitchingTask* switching;
  int switching_count, switching_capacity;
  int parameter_capacity, coordinate_capacity, term_capacity, constraint_capacity, contact_capacity,
      event_capacity, impulse_capacity, output_capacity, shape_capacity, state_capacity,
      input_capacity, set_capacity, rotation_capacity, recipe_capacity, place_capacity;
} PawlLoader;

// Room for one more in a growable array of the model; false when memory or the limit is reached.
// `where` stands for the element in the message.
bool pawl_loader_room(PawlLoader* loader, const PawlYaml* where, void** array, int* capacity,
                      int count, size_t size);
#define PAWL_ROOM(loader, where, array, capacity, count) \
  pawl_loader_room((loader), (where), (void**)&(array), &(capacity), (count), sizeof *(array))
// `count` zeroed parts of an element (rows, modes, points, times) that live as long as the model.
// NULL when memory or the limit on all parts together is reached.
void* pawl_loader_parts(PawlLoader* loader, const PawlYaml* where, int count, size_t size);
// Counts work towards PAWL_MODEL_MAX_ROUNDS; false when that is reached.
bool pawl_loader_spend(PawlLoader* loader, const PawlYaml* where, int rounds);
bool pawl_loader_no_memory(PawlLoader* loader);  // notes it; returns false
// The tree of a text in YAML or URDF, which the hash of the model then contains. NULL after
// reporting to `report`.
PawlYaml* pawl_loader_tree(PawlLoader* loader, const char* text, size_t length, PawlReport* report);
// The place and the text of a scalar, kept with the model.
PawlSource pawl_loader_source(PawlLoader* loader, PawlYaml* node);

// ---- indices --------------------------------------------------------------------------------

// Runs through the indices of a key or loop, the last index fastest; a key without indices has one
// round. Write: for (bool more = pawl_indexer_begin(...); more; more = pawl_indexer_next(&at)).
typedef struct PawlIndexer {
  PawlLoader* loader;
  PawlYaml* where;
  const PawlAstKey* key;
  PawlScope scope;  // the outer scope and the variables of the key
  int outer;        // variables of the outer scope
  int value[PAWL_MAX_INDICES], high[PAWL_MAX_INDICES];
  bool failed;  // reported
} PawlIndexer;
bool pawl_indexer_begin(PawlIndexer* at, PawlLoader* loader, PawlYaml* where, const PawlAstKey* key,
                        const PawlScope* outer);
bool pawl_indexer_next(PawlIndexer* at);
// Rounds from the first one on, where no range depends on another; else 0.
long long pawl_indexer_rounds(const PawlIndexer* first);
bool pawl_indexer_last(PawlIndexer* at);  // the last round instead of those that are left
// The scope of a key's variables at given indices.
PawlScope pawl_scope_at(const PawlAstKey* key, const int index[]);

// ---- expressions ----------------------------------------------------------------------------

enum {  // what an expression may contain besides parameters, numbers and indices
  PAWL_MAY_Q = 1,
  PAWL_MAY_V = 2,
  PAWL_MAY_A = 4,
  PAWL_MAY_T = 8,
  PAWL_MAY_LAMBDA = 16,
  PAWL_MAY_OUTPUT = 32,
  PAWL_MAY_CONTACT = 64,  // lambda of a contact, which is known where a step has ended only
  PAWL_MAY_STATE = 128,
  PAWL_MAY_INPUT = 256,
  PAWL_MAY_SIGNALS = PAWL_MAY_STATE | PAWL_MAY_INPUT,
  PAWL_MAY_WAIT = 512,   // its nodes may be PAWL_LATER
  PAWL_MAY_KEPT = 1024,  // states without rate that the constraint itself sets
};
typedef struct PawlUse {
  const char* what;  // "a potential energy"
  unsigned may;
  const char* remark;  // added when it contains something else; may be NULL
} PawlUse;
extern const PawlUse PAWL_USE_VALUE;       // parameters only
extern const PawlUse PAWL_USE_DEFINITION;  // names not built yet are noted in `pending`
extern const PawlUse PAWL_USE_WATCH;       // everything: conditions of events and switching

// What a scalar was parsed to. A scalar is either an expression or a key.
typedef struct PawlParsed {
  bool failed;  // reported once; later uses are silent
  bool is_for;
  PawlAst *left, *right;
  const PawlAst* time;  // the first use of t, NULL without
  PawlAstKey key;
  struct PawlAgain* again;  // how members of a family were built (again.c)
  int misses;               // members that were built from the tree
  bool judged, is_value;    // what pawl_is_value found
} PawlParsed;

// The text as an expression: a node of the model's graph. `text` must be a scalar, or it is
// reported.
bool pawl_expression(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                     PawlNode* node);
// The same, telling what it contains (PAWL_MAY_...).
bool pawl_expression_contains(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                              const PawlUse* use, PawlNode* node, unsigned* contains);
// An expression that may be a vector or a matrix; `text` may be a list of the numbers of a vector.
bool pawl_shaped(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                 PawlMatrix* out, unsigned* contains);
// The same for what must be a vector of 2 or 3, or a matrix is refused with `what` it is.
bool pawl_vector(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                 PawlMatrix* out);
// The same, where one more name stands for an expression: "slip" in the friction of a contact.
bool pawl_expression_with(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                          const PawlUse* use, const char* name, PawlNode value, PawlNode* node);
// `left = right` as left - right, or an expression: a number, or a vector with one row for each.
bool pawl_equation(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                   PawlMatrix* out);
// The expression or equation that was built last (`loader->built`) as a member of its family, with
// one more coordinate that it belongs to; -1: none. False when memory is short.
bool pawl_member(PawlLoader* loader, const struct PawlAgain* built, int coordinate,
                 PawlMember* member);
// A finite number from parameters and indices.
bool pawl_value(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, double* value);
// Finite numbers of a vector or matrix of parameters and indices; `shape` tells how many.
bool pawl_values(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, PawlMatrix* shape,
                 double out[9]);
// The same of a term of the equations, to judge it at the start: its parameters may change.
bool pawl_judge(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, double* value);
// True for an expression of numbers, parameters and indices alone, of which pawl_value knows the
// value.
bool pawl_is_value(PawlLoader* loader, PawlYaml* text, const PawlScope* scope);
// The parsed text, NULL when that failed; for looking at its form.
const PawlAst* pawl_parse(PawlLoader* loader, PawlYaml* text, const PawlScope* scope);
// A whole number from an expression that is part of a key: a bound of a range or an index.
bool pawl_whole(PawlLoader* loader, const PawlYaml* text, const PawlAst* ast,
                const PawlScope* scope, int* whole);
// The text as a key, `u[i=0..N]`, or as the head of a loop, `for i=0..N`. NULL when that failed.
const PawlAstKey* pawl_key(PawlLoader* loader, PawlYaml* text);
const PawlAstKey* pawl_loop_key(PawlLoader* loader, PawlYaml* text, bool* is_for);
// Before an outermost loop is run through: refuses one that has too many rounds with the loops
// inside it, which is known long before they are made. False when reported.
bool pawl_loop_check(PawlLoader* loader, PawlYaml* body, const PawlAstKey* key);
// A scalar as plain text, kept with the model.
bool pawl_load_text(PawlLoader* loader, PawlYaml* node, const char** text);
// The place of a scalar's text among `words` (ended by NULL); -1 after reporting.
int pawl_load_word(PawlLoader* loader, const PawlYaml* node, const char* what,
                   const char* const* words);
// Reads true or false into `flag`.
bool pawl_flag(PawlLoader* loader, const PawlYaml* text, bool* flag);

// Finds the element that a key such as `u[3]` names; -1 after reporting.
int pawl_find_element(PawlLoader* loader, const PawlNames* names, PawlNameKind kind,
                      const PawlYaml* where, const char* name, int dimension, const int index[]);

// ---- declarations ---------------------------------------------------------------------------

typedef struct PawlDeclared {
  PawlYaml *key, *value;  // value NULL: an item of a list of names
  PawlFamily* family;
} PawlDeclared;

typedef struct PawlEntries {
  PawlDeclared* entry;
  int count, capacity;
} PawlEntries;

// Enters the names of a section (a map; for coordinates also a list) into a table: first all names
// with the box of their indices (claim), then, element by element, what they stand for (fill).
// `section` may be NULL. Names must be unique in `names` and, when it is not NULL, in `other`.
bool pawl_claim(PawlLoader* loader, PawlYaml* section, PawlNames* names, const PawlNames* other,
                PawlNameKind kind, PawlEntries* entries);
// `add` makes the element and returns its number, -1 after reporting; it is not asked again for the
// same entry then. Frees `entries`.
typedef int (*PawlAddElement)(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at);
void pawl_fill(PawlLoader* loader, PawlEntries* entries, PawlAddElement add);
// Both at once.
void pawl_declare(PawlLoader* loader, PawlYaml* section, PawlNames* names, const PawlNames* other,
                  PawlNameKind kind, PawlAddElement add);

// The name of an element, "u[3]", kept with the model; NULL after noting that memory is short.
const char* pawl_declared_name(PawlLoader* loader, const PawlDeclared* entry,
                               const PawlIndexer* at);

// Reports when `section` is given and is no map.
bool pawl_expect_map(PawlLoader* loader, const PawlYaml* section, const char* what);

// ---- sections, one file each ----------------------------------------------------------------

void pawl_load_functions(PawlLoader* loader, PawlYaml* section);
// Takes a name for a function or table; it counts as failed until the caller has filled its cell.
// NULL after reporting.
PawlFamily* pawl_add_function_name(PawlLoader* loader, PawlYaml* key, const char* name,
                                   PawlNameKind kind);
void pawl_load_tables(PawlLoader* loader, PawlYaml* section);
void pawl_load_parameters(PawlLoader* loader, PawlYaml* section, int override_count,
                          const char* const* overrides);
// Rotations among the coordinates: takes their entries out of `coordinates`; and reads them, once
// all others are there.
void pawl_claim_rotations(PawlLoader* loader, PawlEntries* coordinates, PawlEntries* rotations);
void pawl_load_rotations(PawlLoader* loader, PawlEntries* rotations);
void pawl_load_guess(PawlLoader* loader, const PawlYaml* text, PawlCoordinate* coordinate);
int pawl_add_coordinate(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at);
int pawl_add_state(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at);
int pawl_add_input(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at);
void pawl_load_rates(PawlLoader* loader, PawlYaml* states);  // once constraints are known
bool pawl_load_sets(PawlLoader* loader, PawlYaml* set, const PawlScope* scope, PawlEventDef* event);
// `set:` of a constraint; and whether equations have no other states than those.
bool pawl_load_kept(PawlLoader* loader, PawlYaml* set, const PawlScope* scope,
                    PawlConstraint* constraint);
void pawl_check_kept(PawlLoader* loader);
int pawl_add_definition(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at);
void pawl_build_definitions(PawlLoader* loader);
void pawl_settle_starts(PawlLoader* loader);  // those noted in `starts`
void pawl_load_energy(PawlLoader* loader, PawlYaml* section, PawlTermKind kind);
void pawl_load_mass(PawlLoader* loader, PawlYaml* section);
void pawl_load_forces(PawlLoader* loader, PawlYaml* section);
// One term; `text` is where it is written. False when memory or the limit is reached.
bool pawl_add_term(PawlLoader* loader, PawlTermKind kind, PawlYaml* text, PawlNode node,
                   int target);
// The same for one that is made of the expression built last, and of `coordinate` (-1: no more).
bool pawl_add_member(PawlLoader* loader, PawlTermKind kind, PawlYaml* text, PawlNode node,
                     int target, int coordinate);
// `motor: {on: phi - psi, value: ...}` of forces.
void pawl_load_force_along(PawlLoader* loader, PawlYaml* body);
void pawl_load_springs(PawlLoader* loader, PawlYaml* section);
void pawl_load_constraints(PawlLoader* loader, PawlYaml* constraints, PawlYaml* locks);
// Whether the rate w of a rate equation, or of a slip (`key`), is linear in the rates and contains
// any, or is zero whatever moves; reports it when not.
bool pawl_rate_is_linear(PawlLoader* loader, const PawlYaml* text, const char* key, PawlNode w);
void pawl_load_switching(PawlLoader* loader);  // of the constraints noted in `switching`
bool pawl_load_trigger(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                       PawlTrigger* trigger);  // the keys at, when, direction, after
bool pawl_load_every(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                     PawlTrigger* trigger);  // the keys every, offset
// The first key of a constraint's body that has to do with switching; NULL without.
const PawlYaml* pawl_switching_given(const PawlYaml* body);
void pawl_load_contacts(PawlLoader* loader, PawlYaml* section);
void pawl_load_events(PawlLoader* loader, PawlYaml* section);
void pawl_load_outputs(PawlLoader* loader, PawlYaml* section);
void pawl_load_projection(PawlLoader* loader, PawlYaml* section);
// Reads the scene; not `whole`: at a glance where it is large. False when rounds were left out.
bool pawl_load_scene(PawlLoader* loader, PawlYaml* section, bool whole);
void pawl_load_simulate(PawlLoader* loader, PawlYaml* section);
