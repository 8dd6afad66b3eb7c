// SPDX-License-Identifier: Apache-2.0
#include "base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct PawlWorker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  PawlWorkerTask* work;  // under way or about to be; NULL: none; under `lock`, as all below
  void* context;
  bool stop;
};

static void* serve(void* context) {
  PawlWorker* w = context;
  pthread_mutex_lock(&w->lock);
  while (!w->stop) {
    if (!w->work) {
      pthread_cond_wait(&w->begin, &w->lock);
      continue;
    }
    pthread_mutex_unlock(&w->lock);
    w->work(w->context);
    pthread_mutex_lock(&w->lock);
    w->work = NULL;
    pthread_cond_signal(&w->end);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static void free_worker(PawlWorker* w) {
  pthread_cond_destroy(&w->end);
  pthread_cond_destroy(&w->begin);
  pthread_mutex_destroy(&w->lock);
  pawl_free(w);
}

// Signals are for the threads of the caller, which know what to do; but a pipe that nobody reads
// ends the program as ever.
static bool start(PawlWorker* w) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&w->thread, NULL, serve, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

PawlWorker* pawl_worker_create(void) {
  PawlWorker* w = pawl_alloc(1, sizeof *w);
  if (!w) {
    return NULL;
  }
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->begin, NULL);
  pthread_cond_init(&w->end, NULL);
  if (!start(w)) {
    free_worker(w);
    return NULL;
  }
  return w;
}

static void wait_locked(PawlWorker* w) {
  while (w->work) {
    pthread_cond_wait(&w->end, &w->lock);
  }
}

void pawl_worker_wait(PawlWorker* w) {
  if (w) {
    pthread_mutex_lock(&w->lock);
    wait_locked(w);
    pthread_mutex_unlock(&w->lock);
  }
}

void pawl_worker_give(PawlWorker* w, PawlWorkerTask* work, void* context) {
  if (!w) {
    work(context);
    return;
  }
  pthread_mutex_lock(&w->lock);
  wait_locked(w);
  w->work = work;
  w->context = context;
  pthread_cond_signal(&w->begin);
  pthread_mutex_unlock(&w->lock);
}

void pawl_worker_destroy(PawlWorker* w) {
  if (!w) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  wait_locked(w);
  w->stop = true;
  pthread_cond_signal(&w->begin);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  free_worker(w);
}
