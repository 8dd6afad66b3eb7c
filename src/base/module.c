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
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

struct PawlModule {
  void* handle;
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
enum { OPTIONS = sizeof options / sizeof *options };
// Of the processor and of the clock: a compiler that has not ended then is ended.
enum { MOST_SECONDS = 60, MOST_WAIT = 120 };

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

static PawlStatus find_folder(PawlText* path, int* folder, PawlError* err) {
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
  made = made && make_folder(path->s);
  *folder = made ? open(path->s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (*folder < 0 || fstat(*folder, &about) != 0) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot make the folder '%s'", path->s);
  }
  if (!is_own(&about)) {
    return pawl_fail(err, PAWL_ERROR_FILE, "others may write to the folder '%s'", path->s);
  }
  return PAWL_OK;
}

// ---- names --------------------------------------------------------------------------------------
// Files are reached through the open folder, which stays the one that was looked at, whatever
// becomes of its path.
typedef struct Names {
  int folder;                                  // open; -1: none
  PawlText path;                               // of the folder, for messages
  PawlText compiler, source, code, made, log;  // `made` and `log` while it is being compiled
} Names;

static void free_names(Names* names) {
  if (names->folder >= 0) {
    close(names->folder);
  }
  pawl_text_free(&names->path);
  pawl_text_free(&names->compiler);
  pawl_text_free(&names->source);
  pawl_text_free(&names->code);
  pawl_text_free(&names->made);
  pawl_text_free(&names->log);
}

// The name of a file in the folder.
static char* in_folder(const PawlText* file) {
  return strrchr(file->s, '/') + 1;
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
  struct stat about;
  if (!find_compiler(&names->compiler, &about)) {
    return names->compiler.failed ? pawl_fail_memory(err)
                                  : pawl_fail(err, PAWL_ERROR_FILE,
                                              "there is no C compiler: cc, gcc or clang in PATH");
  }
  PAWL_TRY(find_folder(&names->path, &names->folder, err));
  unsigned long long name = hash(hash_of_compiler(names, &about), source, length);
  int folder = names->folder;
  pawl_text_printf(&names->source, "/proc/self/fd/%d/%016llx.c", folder, name);
  pawl_text_printf(&names->code, "/proc/self/fd/%d/%016llx.so", folder, name);
  pawl_text_printf(&names->made, "/proc/self/fd/%d/%016llx.XXXXXX", folder, name);
  pawl_text_printf(&names->log, "/proc/self/fd/%d/%016llx.log.XXXXXX", folder, name);
  bool failed = names->source.failed || names->code.failed || names->made.failed;
  return failed || names->log.failed ? pawl_fail_memory(err) : PAWL_OK;
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

static PawlStatus fail_to(const char* what, const Names* names, const PawlText* file,
                          PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_FILE, "cannot %s '%s/%s'", what, names->path.s, in_folder(file));
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
  arguments[count++] = in_folder(&names->made);
  arguments[count++] = in_folder(&names->source);
  arguments[count++] = (char*)(uintptr_t) "-lm";
  arguments[count] = NULL;
  sigemptyset(&none);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addfchdir_np(&files, names->folder);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, in_folder(&names->log), O_WRONLY, 0);
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

// Until the child has ended; it is looked at every millisecond. It stays a zombie, and its number
// its own. False: it had to be ended.
static bool wait_for(pid_t child) {
  enum { A_SECOND = 1000 };
  bool good = true;
  siginfo_t about = {0};
  for (int k = 0; about.si_pid == 0; k++) {
    if (k == MOST_WAIT * A_SECOND) {
      kill(-child, SIGKILL);
      good = false;
    }
    if (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT | WNOHANG) != 0 && errno != EINTR) {
      break;
    }
    if (about.si_pid == 0) {
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
  }
  return good;
}

// What the compiler returned; -1: it could not be called or did not end, which `*late` says.
static int run_compiler(const Names* names, PawlModuleJob* job, bool* late) {
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
  *late = !wait_for(child);
  if (job) {  // forgets it before its number can be that of another
    pthread_mutex_lock(&job->lock);
    job->child = 0;
    pthread_mutex_unlock(&job->lock);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first line that the compiler wrote.
static PawlStatus explain(const Names* names, bool late, PawlError* err) {
  char line[160] = {0};
  if (late) {
    return pawl_fail(err, PAWL_ERROR_FILE, "'%s' has not compiled '%s/%s' within %d s",
                     names->compiler.s, names->path.s, in_folder(&names->source), MOST_WAIT);
  }
  int file = open(names->log.s, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t count = read(file, line, sizeof line - 1);
    line[count > 0 ? strcspn(line, "\n") : 0] = '\0';
    close(file);
  }
  return pawl_fail(err, PAWL_ERROR_FILE, "'%s' did not compile '%s/%s'%s%s", names->compiler.s,
                   names->path.s, in_folder(&names->source), line[0] ? ": " : "", line);
}

static PawlStatus compile(Names* names, const char* source, size_t length, PawlModuleJob* job,
                          PawlError* err) {
  if (!write_source(names, source, length)) {
    return fail_to("write", names, &names->source, err);
  }
  int made = mkstemp(names->made.s), log = mkstemp(names->log.s);
  if (made >= 0) {
    close(made);
  }
  if (log >= 0) {
    close(log);
  }
  PawlStatus status = PAWL_OK;
  bool late = false;
  if (made < 0 || log < 0) {
    status = fail_to("write", names, &names->made, err);
  } else if (run_compiler(names, job, &late) != 0) {
    status = is_stopped(job) ? PAWL_STOPPED : explain(names, late, err);
  } else if (chmod(names->made.s, S_IRWXU) != 0 || rename(names->made.s, names->code.s) != 0) {
    status = fail_to("write", names, &names->code, err);
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
// A file of one's own in a folder of one's own: nobody else can put another in its place now. The
// loader knows it by this name, which another text does not have. (By the number of an open file it
// gave the module that had had this number before, when that was still in use elsewhere.)
static bool load(const char* path, PawlModule* module) {
  struct stat about;
  int file = open_own(path, &about);
  if (file < 0) {
    return false;
  }
  module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  return module->handle != NULL;
}

static PawlStatus take(Names* names, const char* source, size_t length, PawlModuleJob* job,
                       PawlModule* module, PawlError* err) {
  if (is_same(names->source.s, source, length) && load(names->code.s, module)) {
    return PAWL_OK;
  }
  PAWL_TRY(compile(names, source, length, job, err));
  return load(names->code.s, module) ? PAWL_OK : fail_to("load", names, &names->code, err);
}

PawlStatus pawl_module_create(const char* source, size_t length, PawlModuleJob* job,
                              PawlModule** out, PawlError* err) {
  Names names = {.folder = -1};
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
    pawl_free(module);
  }
}

void* pawl_module_find(const PawlModule* module, const char* name) {
  return dlsym(module->handle, name);
}
