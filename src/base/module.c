// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE  // environ, prlimit
#include "base/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

struct PawlModule {
  void* handle;
  int file;  // stays open: the loader knows the module by this number
};

struct PawlModuleJob {
  pthread_mutex_t lock;
  pid_t child;  // under `lock`, as `stop`; 0: none
  bool stop;
};

// ---- jobs ---------------------------------------------------------------------------------------
PawlModuleJob* pawl_module_job_create(void) {
  PawlModuleJob* job = pawl_alloc(1, sizeof *job);
  if (job) {
    pthread_mutex_init(&job->lock, NULL);
  }
  return job;
}

void pawl_module_job_destroy(PawlModuleJob* job) {
  if (job) {
    pthread_mutex_destroy(&job->lock);
    pawl_free(job);
  }
}

void pawl_module_job_stop(PawlModuleJob* job) {
  pthread_mutex_lock(&job->lock);
  job->stop = true;
  if (job->child > 0) {
    kill(-job->child, SIGKILL);  // with what it has called itself
  }
  pthread_mutex_unlock(&job->lock);
}

static bool is_stopped(PawlModuleJob* job) {
  if (!job) {
    return false;
  }
  pthread_mutex_lock(&job->lock);
  bool stop = job->stop;
  pthread_mutex_unlock(&job->lock);
  return stop;
}

// ---- the compiler -------------------------------------------------------------------------------
// Products and sums are rounded one by one, as everywhere here; errno and traps matter to nobody.
static const char* const options[] = {
    "-std=c11",          "-O3", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math"};
enum { OPTIONS = sizeof options / sizeof *options, MOST_SECONDS = 60 };

// Vectors of four where the processor has them: the bits are the same.
static const char* vector_option(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") ? "-mavx2" : "-msse2";
#else
  return "-w";
#endif
}

static bool is_program(const char* path, struct stat* about) {
  return stat(path, about) == 0 && S_ISREG(about->st_mode) && access(path, X_OK) == 0;
}

// The first of the folders in PATH that has one of the usual names.
static bool find_compiler(PawlText* path, struct stat* about) {
  static const char* const names[] = {"cc", "gcc", "clang"};
  const char* folders = getenv("PATH");
  for (size_t k = 0; folders && k < sizeof names / sizeof *names; k++) {
    for (const char* from = folders; *from;) {
      size_t length = strcspn(from, ":");
      path->length = 0;
      pawl_text_add_bytes(path, from, length);
      pawl_text_printf(path, "/%s", names[k]);
      if (from[0] == '/' && !path->failed && is_program(path->s, about)) {
        return true;
      }
      from += length + (from[length] == ':');
    }
  }
  return false;
}

// ---- the folder ---------------------------------------------------------------------------------
// Nobody else may have made or changed it.
static bool is_own(const struct stat* about) {
  return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool make_folder(const char* path) {
  return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}

static PawlStatus find_folder(PawlText* path, PawlError* err) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  struct stat about;
  if (cache && cache[0] == '/') {
    pawl_text_add(path, cache);
  } else if (home && home[0] == '/') {
    pawl_text_printf(path, "%s/.cache", home);
  } else {
    return pawl_fail(err, PAWL_ERROR_FILE, "neither XDG_CACHE_HOME nor HOME names a folder");
  }
  bool made = !path->failed && make_folder(path->s);
  pawl_text_add(path, "/pawl");
  if (path->failed) {
    return pawl_fail_memory(err);
  }
  if (!made || !make_folder(path->s) || lstat(path->s, &about) != 0 || !S_ISDIR(about.st_mode)) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot make the folder '%s'", path->s);
  }
  if (!is_own(&about)) {
    return pawl_fail(err, PAWL_ERROR_FILE, "others may write to the folder '%s'", path->s);
  }
  return PAWL_OK;
}

// ---- names --------------------------------------------------------------------------------------
typedef struct Names {
  PawlText compiler, source, code, made, log;  // paths; `made` and `log` while it is being compiled
} Names;

static void free_names(Names* names) {
  pawl_text_free(&names->compiler);
  pawl_text_free(&names->source);
  pawl_text_free(&names->code);
  pawl_text_free(&names->made);
  pawl_text_free(&names->log);
}

// FNV-1a of 64 bits. Texts with the same one are told apart when they are compared.
static uint64_t hash(uint64_t seed, const char* bytes, size_t length) {
  uint64_t h = seed;
  for (size_t k = 0; k < length; k++) {
    h = (h ^ (unsigned char)bytes[k]) * 1099511628211u;
  }
  return h;
}

static uint64_t hash_of_compiler(const Names* names, const struct stat* about) {
  uint64_t h = hash(14695981039346656037u, names->compiler.s, names->compiler.length);
  for (int k = 0; k < OPTIONS; k++) {
    h = hash(h, options[k], strlen(options[k]) + 1);
  }
  h = hash(h, vector_option(), strlen(vector_option()) + 1);
  h = hash(h, (const char*)&about->st_mtim, sizeof about->st_mtim);
  return hash(h, (const char*)&about->st_size, sizeof about->st_size);
}

static PawlStatus make_names(Names* names, const char* source, size_t length, PawlError* err) {
  PawlText folder = {0};
  struct stat about;
  if (!find_compiler(&names->compiler, &about)) {
    return names->compiler.failed ? pawl_fail_memory(err)
                                  : pawl_fail(err, PAWL_ERROR_FILE,
                                              "there is no C compiler: cc, gcc or clang in PATH");
  }
  PawlStatus status = find_folder(&folder, err);
  if (status == PAWL_OK) {
    unsigned long long name = hash(hash_of_compiler(names, &about), source, length);
    pawl_text_printf(&names->source, "%s/%016llx.c", folder.s, name);
    pawl_text_printf(&names->code, "%s/%016llx.so", folder.s, name);
    pawl_text_printf(&names->made, "%s/%016llx.XXXXXX", folder.s, name);
    pawl_text_printf(&names->log, "%s/%016llx.log.XXXXXX", folder.s, name);
    bool failed = names->source.failed || names->code.failed || names->made.failed;
    status = failed || names->log.failed ? pawl_fail_memory(err) : PAWL_OK;
  }
  pawl_text_free(&folder);
  return status;
}

// ---- files --------------------------------------------------------------------------------------
// A file of one's own for reading; -1 without.
static int open_own(const char* path, struct stat* about) {
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && (fstat(file, about) != 0 || !S_ISREG(about->st_mode) || !is_own(about))) {
    close(file);
    return -1;
  }
  return file;
}

static bool is_same(const char* path, const char* source, size_t length) {
  struct stat about;
  int file = open_own(path, &about);
  bool same = file >= 0 && (size_t)about.st_size == length;
  char piece[4096];
  for (size_t at = 0; same && at < length;) {
    ssize_t count = read(file, piece, sizeof piece);
    same =
        count > 0 && (size_t)count <= length - at && memcmp(piece, source + at, (size_t)count) == 0;
    at += count > 0 ? (size_t)count : 0;
  }
  if (file >= 0) {
    close(file);
  }
  return same;
}

static bool write_all(int file, const char* bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(file, bytes, length);
    if (count <= 0) {
      return false;
    }
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

// A file of its own first, so that nobody ever sees half of one.
static bool write_source(const Names* names, const char* source, size_t length) {
  PawlText path = {0};
  pawl_text_printf(&path, "%s.XXXXXX", names->source.s);
  int file = path.failed ? -1 : mkstemp(path.s);
  bool good = file >= 0 && write_all(file, source, length);
  if (file >= 0) {
    good &= close(file) == 0;
    good = good && rename(path.s, names->source.s) == 0;
    if (!good) {
      unlink(path.s);
    }
  }
  pawl_text_free(&path);
  return good;
}

// ---- compiling ----------------------------------------------------------------------------------
// The child has the signals of an ordinary program, whatever the calling thread leaves to others.
static int spawn(const Names* names, pid_t* child) {
  char* arguments[OPTIONS + 8];
  int count = 0;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none;
  arguments[count++] = names->compiler.s;
  for (int k = 0; k < OPTIONS; k++) {
    arguments[count++] = (char*)(uintptr_t)options[k];
  }
  arguments[count++] = (char*)(uintptr_t)vector_option();
  arguments[count++] = (char*)(uintptr_t) "-o";
  arguments[count++] = names->made.s;
  arguments[count++] = names->source.s;
  arguments[count++] = (char*)(uintptr_t) "-lm";
  arguments[count] = NULL;
  sigemptyset(&none);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, names->log.s, O_WRONLY, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);  // of its own, so that all of it can be ended
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  int failed = posix_spawn(child, names->compiler.s, &files, &attributes, arguments, environ);
  if (!failed) {  // should nobody be left to end it
    prlimit(*child, RLIMIT_CPU, &(struct rlimit){MOST_SECONDS, MOST_SECONDS}, NULL);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

// -1, or what the compiler returned.
static int run_compiler(const Names* names, PawlModuleJob* job) {
  pid_t child = 0;
  int status = -1, failed;
  if (job) {
    pthread_mutex_lock(&job->lock);
    failed = job->stop ? -1 : spawn(names, &child);
    job->child = failed ? 0 : child;
    pthread_mutex_unlock(&job->lock);
  } else {
    failed = spawn(names, &child);
  }
  if (failed) {
    return -1;
  }
  // The child stays a zombie, and its number its own, until `job` has forgotten it.
  siginfo_t about;
  while (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  if (job) {
    pthread_mutex_lock(&job->lock);
    job->child = 0;
    pthread_mutex_unlock(&job->lock);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first line that the compiler wrote.
static PawlStatus explain(const Names* names, PawlError* err) {
  char line[160] = {0};
  int file = open(names->log.s, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t count = read(file, line, sizeof line - 1);
    line[count > 0 ? strcspn(line, "\n") : 0] = '\0';
    close(file);
  }
  return pawl_fail(err, PAWL_ERROR_FILE, "'%s' did not compile '%s'%s%s", names->compiler.s,
                   names->source.s, line[0] ? ": " : "", line);
}

static PawlStatus compile(Names* names, const char* source, size_t length, PawlModuleJob* job,
                          PawlError* err) {
  if (!write_source(names, source, length)) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s'", names->source.s);
  }
  int made = mkstemp(names->made.s), log = mkstemp(names->log.s);
  if (made >= 0) {
    close(made);
  }
  if (log >= 0) {
    close(log);
  }
  PawlStatus status = PAWL_OK;
  if (made < 0 || log < 0) {
    status = pawl_fail(err, PAWL_ERROR_FILE, "cannot write to the folder of '%s'", names->code.s);
  } else if (run_compiler(names, job) != 0) {
    status = is_stopped(job) ? PAWL_STOPPED : explain(names, err);
  } else if (chmod(names->made.s, S_IRWXU) != 0 || rename(names->made.s, names->code.s) != 0) {
    status = pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s'", names->code.s);
  }
  if (status != PAWL_OK && made >= 0) {
    unlink(names->made.s);
  }
  if (log >= 0) {
    unlink(names->log.s);
  }
  return status;
}

// ---- loading ------------------------------------------------------------------------------------
// By the number of the open file, so that it is the one that was looked at.
static bool load(const char* path, PawlModule* module) {
  struct stat about;
  char name[64];
  module->file = open_own(path, &about);
  if (module->file < 0) {
    return false;
  }
  snprintf(name, sizeof name, "/proc/self/fd/%d", module->file);
  module->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) {
    close(module->file);
  }
  return module->handle != NULL;
}

static PawlStatus take(Names* names, const char* source, size_t length, PawlModuleJob* job,
                       PawlModule* module, PawlError* err) {
  if (is_same(names->source.s, source, length) && load(names->code.s, module)) {
    return PAWL_OK;
  }
  PAWL_TRY(compile(names, source, length, job, err));
  return load(names->code.s, module)
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_FILE, "cannot load '%s', just compiled", names->code.s);
}

PawlStatus pawl_module_create(const char* source, size_t length, PawlModuleJob* job,
                              PawlModule** out, PawlError* err) {
  Names names = {0};
  *out = pawl_alloc(1, sizeof **out);
  PawlStatus status = *out ? make_names(&names, source, length, err) : pawl_fail_memory(err);
  status = status ? status : take(&names, source, length, job, *out, err);
  free_names(&names);
  if (status != PAWL_OK) {
    pawl_free(*out);
    *out = NULL;
  }
  return status;
}

void pawl_module_destroy(PawlModule* module) {
  if (module) {
    dlclose(module->handle);
    close(module->file);
    pawl_free(module);
  }
}

void* pawl_module_find(const PawlModule* module, const char* name) {
  return dlsym(module->handle, name);
}
