// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/alloc.h"

// Looks at a number that another thread changes, before a thread sleeps: some 10 to 50 us, about as
// long as it takes to wake one. Loops of a step follow each other faster than that.
enum { LOOKS = 1500 };

typedef struct Loop {
  int count, length, parts;
  PawlPartWork* work;
  void* context;
} Loop;

typedef struct Helper {
  PawlPool* pool;
  int thread;
  pthread_t id;
} Helper;

struct PawlPool {
  int threads;      // helpers and the caller
  Helper* helpers;  // (threads - 1)
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  bool looks;          // there is a processor for each thread
  atomic_ulong round;  // of the loop that is under way; all below are written under `lock`
  atomic_int busy;     // helpers that have not finished it
  bool stop;
  Loop loop;
  atomic_int next;  // the part that nobody has taken yet
};

static PawlPart part_of(const Loop* loop, int number, int thread) {
  int first = number * loop->length;
  int end = loop->count - first < loop->length ? loop->count : first + loop->length;
  return (PawlPart){first, end, number, thread};
}

static void take_parts(PawlPool* pool, int thread) {
  const Loop* loop = &pool->loop;
  for (int k = atomic_fetch_add(&pool->next, 1); k < loop->parts;
       k = atomic_fetch_add(&pool->next, 1)) {
    loop->work(loop->context, part_of(loop, k, thread));
  }
}

static inline void rest(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void look_for_loop(PawlPool* pool, unsigned long round) {
  for (int k = 0; pool->looks && k < LOOKS && atomic_load(&pool->round) == round; k++) {
    rest();
  }
}

static void look_for_end(PawlPool* pool) {
  for (int k = 0; pool->looks && k < LOOKS && atomic_load(&pool->busy) > 0; k++) {
    rest();
  }
}

// Waits for a loop after the one of `round`; false: there will be none.
static bool wait_for_loop(PawlPool* pool, unsigned long* round) {
  look_for_loop(pool, *round);
  pthread_mutex_lock(&pool->lock);
  while (atomic_load(&pool->round) == *round && !pool->stop) {
    pthread_cond_wait(&pool->begin, &pool->lock);
  }
  *round = atomic_load(&pool->round);
  bool more = !pool->stop;
  pthread_mutex_unlock(&pool->lock);
  return more;
}

static void report_end(PawlPool* pool) {
  pthread_mutex_lock(&pool->lock);
  if (atomic_fetch_sub(&pool->busy, 1) == 1) {
    pthread_cond_signal(&pool->end);
  }
  pthread_mutex_unlock(&pool->lock);
}

static void* help(void* context) {
  const Helper* helper = context;
  unsigned long round = 0;
  while (wait_for_loop(helper->pool, &round)) {
    take_parts(helper->pool, helper->thread);
    report_end(helper->pool);
  }
  return NULL;
}

static void run_on_all(PawlPool* pool, Loop loop) {
  pthread_mutex_lock(&pool->lock);
  pool->loop = loop;
  atomic_store(&pool->next, 0);
  atomic_store(&pool->busy, pool->threads - 1);
  atomic_fetch_add(&pool->round, 1);
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  take_parts(pool, 0);
  look_for_end(pool);
  pthread_mutex_lock(&pool->lock);
  while (atomic_load(&pool->busy) > 0) {
    pthread_cond_wait(&pool->end, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
}

void pawl_pool_loop(PawlPool* pool, int count, int length, PawlPartWork* work, void* context) {
  Loop loop = {count, length, pawl_pool_parts(count, length), work, context};
  if (pool && loop.parts > 1) {
    run_on_all(pool, loop);
    return;
  }
  for (int k = 0; k < loop.parts; k++) {
    work(context, part_of(&loop, k, 0));
  }
}

int pawl_pool_threads(const PawlPool* pool) {
  return pool ? pool->threads : 1;
}

int pawl_pool_processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
}

static void free_pool(PawlPool* pool) {
  pthread_cond_destroy(&pool->end);
  pthread_cond_destroy(&pool->begin);
  pthread_mutex_destroy(&pool->lock);
  pawl_free(pool->helpers);
  pawl_free(pool);
}

static PawlPool* make_pool(int threads) {
  PawlPool* pool = pawl_alloc(1, sizeof *pool);
  Helper* helpers = pawl_alloc((size_t)threads, sizeof *helpers);
  if (!pool || !helpers) {
    pawl_free(pool);
    pawl_free(helpers);
    return NULL;
  }
  pool->helpers = helpers;
  pool->threads = 1;
  pool->looks = threads <= pawl_pool_processors();
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->end, NULL);
  return pool;
}

PawlStatus pawl_pool_create(int threads, PawlPool** out, PawlError* err) {
  *out = NULL;
  if (threads <= 1) {
    return PAWL_OK;
  }
  PawlPool* pool = make_pool(threads);
  if (!pool) {
    return pawl_fail_memory(err);
  }
  for (int k = 1; k < threads; k++) {
    Helper* helper = &pool->helpers[k - 1];
    *helper = (Helper){.pool = pool, .thread = k};
    if (pthread_create(&helper->id, NULL, help, helper) != 0) {
      pawl_pool_destroy(pool);
      return pawl_fail(err, PAWL_ERROR_RUN, "threads = %d: no more than %d could be started",
                       threads, k);
    }
    pool->threads++;
  }
  *out = pool;
  return PAWL_OK;
}

void pawl_pool_destroy(PawlPool* pool) {
  if (!pool) {
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  for (int k = 1; k < pool->threads; k++) {
    pthread_join(pool->helpers[k - 1].id, NULL);
  }
  free_pool(pool);
}
