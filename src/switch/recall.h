// SPDX-License-Identifier: Apache-2.0
// What was asked of contacts with friction lately, to the bit, and the answers: of a heap at rest
// the same is asked at every look. An answer is a function of what is asked alone, and looks leave
// no trace: how many there are differs where a run goes on from a saved state.
#pragma once

#include "switch/grip.h"

enum { PAWL_RECALL_MOST = 4 };  // answers that are kept

typedef struct PawlRecallAnswer {
  bool known, done, near;  // there is one; all is borne, exactly or but for roundings
  double* key;             // what was asked
  double* lambda;          // rows
  unsigned char* bears;    // rows: what hangs together with the row bears all that it is to
} PawlRecallAnswer;

struct PawlRecall {
  int length;  // of keys
  double* key;
  unsigned char* takes;  // rows: in the problem
  unsigned char* fails;  // v: trees that do not bear all
  unsigned char* kept;   // rows, of a share under way: lambda is found; and which
  double* lambda;
  int next;  // to be replaced
  PawlRecallAnswer answer[PAWL_RECALL_MOST];
  unsigned char *fresh, *memory;  // of the solver of the dynamics: at first, and before a look
};

// Makes grip->recall; `grip` may be NULL.
PAWL_CHECKED PawlStatus pawl_recall_create(PawlGrip* grip, PawlError* err);
// The answer to the problem that pawl_grip_solve would solve now; or one that is not known, to be
// filled in.
PawlRecallAnswer* pawl_recall_ask(PawlRecall* recall, const PawlGrip* grip,
                                  const PawlValues* values);
// pawl_grip_solve with a solver that remembers nothing; what it remembers is as before then.
PAWL_CHECKED PawlStatus pawl_recall_solve(PawlRecall* recall, PawlGrip* grip,
                                          const PawlValues* values, PawlError* err);
