// SPDX-License-Identifier: Apache-2.0
#include "base/lock.h"

#include <pthread.h>
#include <stddef.h>

#include "base/alloc.h"

struct PawlLock {
  pthread_mutex_t mutex;
};

PawlLock* pawl_lock_create(void) {
  PawlLock* lock = pawl_alloc(1, sizeof *lock);
  pthread_mutexattr_t again;
  if (!lock || pthread_mutexattr_init(&again) != 0) {
    pawl_free(lock);
    return NULL;
  }
  pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock->mutex, &again);
  pthread_mutexattr_destroy(&again);
  return lock;
}

void pawl_lock_destroy(PawlLock* lock) {
  if (lock) {
    pthread_mutex_destroy(&lock->mutex);
    pawl_free(lock);
  }
}

void pawl_lock_take(PawlLock* lock) {
  pthread_mutex_lock(&lock->mutex);
}

void pawl_lock_leave(PawlLock* lock) {
  pthread_mutex_unlock(&lock->mutex);
}
