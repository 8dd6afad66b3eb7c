// SPDX-License-Identifier: Apache-2.0
// One thread at a time: for what several owners share and nearly never change. A thread that has a
// lock may take it again.
#pragma once

typedef struct PawlLock PawlLock;

PawlLock* pawl_lock_create(void);        // NULL when memory is short
void pawl_lock_destroy(PawlLock* lock);  // NULL is allowed
void pawl_lock_take(PawlLock* lock);
void pawl_lock_leave(PawlLock* lock);
