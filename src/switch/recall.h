// SPDX-License-Identifier: Apache-2.0
// What was asked of contacts with friction lately, to the bit, and the answers: of a heap at rest
// the same is asked at every look, and the answer is a function of what is asked alone.
#pragma once

#include "switch/grip.h"

enum { PAWL_RECALL_MOST = 4 };  // answers that are kept

typedef struct PawlRecallAnswer {
  bool known, done;  // there is one; all is borne
  double* key;       // what was asked
  double* lambda;    // rows
} PawlRecallAnswer;

struct PawlRecall {
  int length;  // of keys
  double* key;
  unsigned char* takes;  // rows: in the problem
  int next;              // to be replaced
  PawlRecallAnswer answer[PAWL_RECALL_MOST];
};

// Makes grip->recall; `grip` may be NULL.
PAWL_CHECKED PawlStatus pawl_recall_create(PawlGrip* grip, PawlError* err);
// The answer to the problem that pawl_grip_solve would solve now; or one that is not known, to be
// filled in.
PawlRecallAnswer* pawl_recall_ask(PawlRecall* recall, const PawlGrip* grip,
                                  const PawlValues* values);
