// SPDX-License-Identifier: Apache-2.0
// Memory runs out: the program is run once for each allocation that it makes, and that one fails,
// alone or with all after it. It must end with exit code 1 and say that memory was short, or do
// without and answer in full. Allocations that SUNDIALS and HDF5 make by themselves are not failed
// here (docs/robustness.md).
// usage: test_failing STRIDE         every STRIDE-th allocation
//        test_failing STRIDE every   every allocation of the first WHOLE commands; of the others
//                                    the first of each chain of CALLERS, and every STRIDE-th
//        test_failing STRIDE whole   the same with every thirteenth of the first
#define _XOPEN_SOURCE 700
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/failing.h"
#include "pawl/pawl.h"
#undef main
#undef calloc
#undef free
#undef malloc

enum { MOST_BYTES = 1 << 20, MOST_WORDS = 32, CALLERS = 6, MOST_CHAINS = 20000, WHOLE = 5 };

typedef struct Answer {
  int code;  // -1: by a signal
  long long allocations;
  char out[MOST_BYTES], err[MOST_BYTES];
} Answer;

static void read_text(const char* path, char* text) {
  FILE* file = fopen(path, "rb");
  size_t length = file ? fread(text, 1, MOST_BYTES - 1, file) : 0;
  text[length] = '\0';
  if (file) {
    fclose(file);
  }
}

static int split(const char* command, char* room, char** words) {
  int count = 0;
  strcpy(room, command);
  for (char* word = strtok(room, " "); word; word = strtok(NULL, " ")) {
    words[count++] = word;
  }
  words[count] = NULL;
  return count;
}

// ---- who allocates ------------------------------------------------------------------------------
static FILE* callers_file;

// The innermost callers of this allocation as one number; without a way to see them all are equal.
static void note_callers(void) {
  uint64_t hash = PAWL_HASH_START;
#if __has_include(<execinfo.h>)
  void* callers[CALLERS];
  int count = backtrace(callers, CALLERS);
  hash = pawl_hash(hash, callers, (size_t)count * sizeof *callers);
#endif
  fwrite(&hash, sizeof hash, 1, callers_file);
}

// True the first time that it is asked for a chain of callers, in all commands.
static bool is_new(uint64_t chain) {
  static uint64_t known[MOST_CHAINS];
  static int count;
  for (int k = 0; k < count; k++) {
    if (known[k] == chain) {
      return false;
    }
  }
  known[count] = chain;
  count += count + 1 < MOST_CHAINS;
  return true;
}

// Of each allocation of the run without a failure whether it is the first of its callers.
static bool* find_new_callers(long long count) {
  bool* fresh = calloc((size_t)count + 1, sizeof *fresh);
  uint64_t* hashes = calloc((size_t)count + 1, sizeof *hashes);
  FILE* file = fopen("callers", "rb");
  size_t known = file && hashes ? fread(hashes, sizeof *hashes, (size_t)count, file) : 0;
  for (size_t k = 0; fresh && k < known; k++) {
    fresh[k] = is_new(hashes[k]);
  }
  if (file) {
    fclose(file);
  }
  free(hashes);
  return fresh;
}

// ---- one run ------------------------------------------------------------------------------------
// In a process of its own, so that each run begins afresh and a crash is seen.
static void child(const char* command, long long n, bool alone) {
  char room[1000], *words[MOST_WORDS];
  int count = split(command, room, words);
  if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr)) {
    _exit(99);
  }
  callers_file = n == 0 ? fopen("callers", "wb") : NULL;
  pawl_alloc_watch(callers_file ? note_callers : NULL);
  (alone ? pawl_alloc_fail_once : pawl_alloc_fail_at)(n);
  long long before = pawl_alloc_count();
  int code = pawl_main(count, words);
  pawl_alloc_fail_at(0);
  pawl_alloc_watch(NULL);
  if (callers_file) {
    fclose(callers_file);
  }
  FILE* file = fopen("count", "w");
  if (file) {
    fprintf(file, "%lld\n", pawl_alloc_count() - before);
    fclose(file);
  }
  exit(code);
}

// n = 0: none fails.
static void run(const char* command, long long n, bool alone, Answer* a) {
  char count[MOST_BYTES];
  fflush(NULL);
  unlink("x.csv.part");  // a run that finds one says so
  unlink("x.h5.part");
  pid_t process = fork();
  if (process == 0) {
    child(command, n, alone);
  }
  int status = 0;
  waitpid(process, &status, 0);
  a->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  read_text("out", a->out);
  read_text("err", a->err);
  read_text("count", count);
  a->allocations = atoll(count);
}

// ---- judging ------------------------------------------------------------------------------------
// Lines that tell a time differ from run to run.
static bool tells_time(const char* line) {
  size_t length = strcspn(line, "\n");
  const char* words[] = {"derived in", "us per step", "wall_seconds", "derive_seconds",
                         "microseconds_per_step"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    const char* at = strstr(line, words[k]);
    if (at && at < line + length) {
      return true;
    }
  }
  return false;
}

static bool same_text(const char* a, const char* b) {
  while (*a && *b) {
    size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
    if (!(tells_time(a) && tells_time(b)) && (la != lb || memcmp(a, b, la) != 0)) {
      return false;
    }
    a += la + (a[la] == '\n');
    b += lb + (b[lb] == '\n');
  }
  return *a == *b;
}

typedef struct Count {
  int tried, refused, full, wrong;
} Count;

static void judge(const char* command, long long n, bool alone, const Answer* whole, Answer* a,
                  Count* count) {
  enum { MOST_SHOWN = 20 };
  run(command, n, alone, a);
  bool refused =
      a->code == 1 && strstr(a->err, "out of memory") && !strstr(a->out, "\"message\": \"\"");
  bool full =
      a->code == whole->code && same_text(a->out, whole->out) && same_text(a->err, whole->err);
  count->tried++;
  count->refused += refused;
  count->full += !refused && full;
  count->wrong += !refused && !full;
  if (!refused && !full && count->wrong <= MOST_SHOWN) {
    printf("%s: allocation %lld fails%s: exit code %d: %.300s\n", command, n,
           alone ? " alone" : " and all after it", a->code, a->err);
  }
}

static bool sweep(const char* command, long long stride, bool by_callers) {
  static Answer whole, a;
  Count count = {0};
  run(command, 0, false, &whole);
  if (whole.code != 0) {
    printf("%s: exit code %d without a failure: %s\n", command, whole.code, whole.err);
    return false;
  }
  bool* fresh = find_new_callers(whole.allocations);
  for (long long n = 1; fresh && n <= whole.allocations; n++) {
    if ((n - 1) % stride == 0 || (by_callers && fresh[n - 1])) {
      judge(command, n, true, &whole, &a, &count);
      judge(command, n, false, &whole, &a, &count);
    }
  }
  free(fresh);
  printf("%s: %lld allocations; of %d failures %d are told, %d change nothing, %d are wrong\n",
         command, whole.allocations, count.tried, count.refused, count.full, count.wrong);
  return count.tried > 0 && count.wrong == 0;
}

int main(int argc, char** argv) {
  static const char* const commands[] = {
      // load, derive, check, step and write, of five models: these WHOLE ones
      "pawl check two-mass-coupled --json",
      "pawl run two-mass-engage --until 0.5 --record 0.1 --method exponential -o x.csv",
      "pawl run bouncing-pendulum --until 0.6 --record 0.1 -o x.csv --project",
      "pawl run kinked-track --until 1 --record 0.1 -o x.csv",
      "pawl run stick-slip --until 1 --record 0.1 -o x.csv --checkpoint x.point --every 0.5",
      // and all else, first from the checkpoint just written
      "pawl run stick-slip --until 1 --record 0.1 -o x.csv --restart x.point",
      "pawl check stick-slip --until 1",
      "pawl check bouncing-pendulum --until 0.6",
      "pawl check kinked-track --until 1",
      "pawl check planar-3r-lock --until 0.5",
      "pawl check skater --until 0.1 --json",
      "pawl check ratchet --until 0.4 --method exponential --json",
      "pawl inverse four-bar --motion q1=1+t --drive q1 --drive q3 --until 0.01 --json",
      "pawl run two-mass-coupled --until 0.05 -o x.csv --plot x.svg --json",
      "pawl run kinked-track --until 1 --record 0.1 --method event-driven -o x.h5",
      "pawl run planar-3r-lock --until 0.5 --record 0.1 -o x.csv --method rk4",
      "pawl run kinked-track --until 1 --record 0.1 --report x.html",
      "pawl plot x.csv -q -x energy -y kinetic*2 -o x.pdf",
      "pawl run pendulum --until 0.02 --method ark",
      "pawl run pendulum --until 0.02 --method ida",
      ("pawl compare pendulum --until 0.04 --step 0.02 --methods ga-p,taylor --reference rk4@0.01 "
       "--json --plot x.svg"),
      "pawl converge pendulum --until 0.2 --methods ga-p --steps 0.1,0.05,0.02 --json",
      "pawl equations planar-3r-lock",
      "pawl equilibrium pendulum --json",
      "pawl import " PAWL_MODELS "/robots/desk-arm.urdf --limits -o x.yaml",
  };
  char folder[] = "/tmp/pawl-failing.XXXXXX";
  long long stride = argc > 1 ? atoll(argv[1]) : 1;
  bool every = argc > 2 && strcmp(argv[2], "every") == 0;  // allocation of the WHOLE ones
  bool all = every || (argc > 2 && strcmp(argv[2], "whole") == 0);
  long long whole_stride = every ? 1 : 13;
  int failed = 0;
  if (stride < 1 || !mkdtemp(folder) || chdir(folder) != 0) {
    return 99;
  }
  setenv("PAWL_DATA", ".", 1);  // with a page for reports
  FILE* page = fopen("report.html", "w");
  if (!page || fputs(PAWL_REPORT_MARK, page) < 0 || fclose(page) != 0) {
    return 99;
  }
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    bool sundials = strstr(commands[k], "ark") || strstr(commands[k], "ida");
    bool able = (pawl_has_hdf5() || !strstr(commands[k], ".h5")) &&
                (!sundials || !pawl_method_find("ark")->absent);
    failed += able && !sweep(commands[k], all && k < WHOLE ? whole_stride : stride, all);
  }
  const char* files[] = {"out",    "err",         "count",   "callers",    "x.csv",
                         "x.svg",  "x.h5",        "x.point", "x.csv.part", "x.h5.part",
                         "x.html", "report.html", "x.pdf",   "x.yaml"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    unlink(files[k]);
  }
  if (rmdir(folder) != 0) {
    printf("files are left behind in %s\n", folder);
    failed++;
  }
  return failed > 0;
}
