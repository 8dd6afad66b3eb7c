// SPDX-License-Identifier: Apache-2.0
// One piece of work at a time beside the calling thread, which goes on meanwhile: what is gathered
// is printed and written while more is gathered. What the work reads and writes belongs to it from
// pawl_worker_give to the next pawl_worker_give or pawl_worker_wait.
#pragma once

typedef struct PawlWorker PawlWorker;  // NULL stands for the calling thread: work is done at once

typedef void PawlWorkerTask(void* context);

// NULL where memory or threads are short.
PawlWorker* pawl_worker_create(void);
void pawl_worker_destroy(PawlWorker* worker);  // waits; NULL is allowed

// Waits for the work given before, and gives this one.
void pawl_worker_give(PawlWorker* worker, PawlWorkerTask* work, void* context);
// Until all that was given is done.
void pawl_worker_wait(PawlWorker* worker);
