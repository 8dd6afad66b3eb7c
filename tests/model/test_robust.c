// SPDX-License-Identifier: Apache-2.0
// What no text may do: crash, hang, leak or fill the memory.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "reading.h"

// Every section, families and loops: the seed of mutations and of failing allocations.
static const char everything[] =
    "model: all\nabout: 'words'\n"
    "parameters: {N: 3, m: 2*N, k: {value: 1e2, unit: N/m}, 'c[i=1..N]': 'twice(i)'}\n"
    "functions: {twice(x): 2*x, 'cube(x, k)': 'k*twice(x)^3'}\n"
    "tables:\n  law: {points: [[0, 1], [1, 2], [3, N]], method: cubic, outside: extend}\n"
    "  map: {points: [[0, 0, 1], [0, 1, 2], [1, 0, 3], [1, 1, 4]]}\n"
    "coordinates:\n  x[i=0..N]: {start: i/N, rate: -i, unit: m}\n  y: {start: 1 + 0*z, guess: "
    "rate}\n"
    "  z: 2\n"
    "define:\n  s[0]: x[0]\n  s[i=1..N]: s[i-1] + x[i]*cos(y)\n  w: s[N]' + z'\n"
    "kinetic:\n  for i=0..N: m/2*x[i]'^2\n  for i=1..N, j=i..N:\n    - s[i]*s[j]\n"
    "mass: {y: m, z: 1}\n"
    "potential: ['k/2*(x[1] - x[0])^2', y^2]\n"
    "dissipation: w^2\nforces: {y: \"if(t > 1, sin(t), 0)\", z: -k*z, pull: {on: y*z, value: "
    "law(y)}}\n"
    "springs:\n  strut: {from: [0, 0], to: [y, z], length: 1, stiffness: k, damping: 'c[1]'}\n"
    "  torsion: {along: 'sum(i=1..N, x[i]*cube(y, i)) + map(y, z)', stiffness: 1}\n"
    "constraints:\n"
    "  joint[i=1..2]: [\"x[i] = x[i-1] + 1\", \"y = z\"]\n"
    "  track: {impact: 0.5, modes: {a: {where: y < 1, equation: z = 0}, b: {where: y > 1}}}\n"
    "  later: {equation: y = 1, at: [1, 2], release: {when: lambda(later), direction: up}}\n"
    "locks:\n  brake: {lock: y - z, when: y', capacity: k, friction: k/2}\n"
    "  latch: {lock: z, when: z', on: snap, to: 1}\n"
    "contacts: {floor: {gap: y, restitution: 0.5}}\n"
    "events: {end: {when: speed, stop: true}}\n"
    "outputs: {speed: y', force: {value: 'lambda(joint[1], 2)', unit: N}}\n"
    "simulate: {method: rk4, until: 2, step: 1/100}\n"
    "scene:\n  - for i=0..N: [disc: {at: ['x[i]', 0], radius: 1}]\n"
    "  - polygon: {points: [[0, 0], [y, 0], [0, z]]}\n";

// The same of a mechanism, in the plane and in space.
static const char plane_mechanism[] =
    "model: all\nparameters: {m: 2}\n"
    "mechanism: {gravity: [0, -9.81], coordinates: joint}\n"
    "bodies:\n  a: {mass: m, inertia: 1, centre: [1, 0], points: {p: [1, 2], q: [0, 'm*2']}}\n"
    "  b: {shape: {box: [1, 2], density: 3, at: [0, 1]}}\n"
    "  c: {mass: 1, shape: {capsule: [1, 2]}, start: {at: [1, 2], angle: 3}, rate: {omega: 1}}\n"
    "  d: {shape: {polygon: [[0, 0], [1, 0], [0, 1]], density: 1}}\n  ground: {points: {o: [1, "
    "1]}}\n"
    "joints:\n  j: {revolute: [ground, a], at: ground.o, start: 1, damping: 2, friction: 1}\n"
    "  k: {prismatic: [b, a], at: [[1, 1], a.p], axis: [1, m], spring: {stiffness: 1, length: 2}}\n"
    "  l: {revolute: [b, d], stops: {low: -1, high: 1}, lock: {at: 1}, motor: sin(t), turn: 0.2}\n"
    "  r: {distance: [c, a], at: [[0, 0], a.q], length: 3}\n"
    "  s: {slot: [c, d], axis: [1, 2]}\n  w: {weld: [c, b], switch: {when: t - 1, on: keep}}\n"
    "  g: {gear: [j, k], ratio: 2}\n  h: {revolute: [d, a], cut: true, drive: t}\n";
static const char space_mechanism[] =
    "model: all\nparameters: {m: 2}\n"
    "mechanism: {gravity: [0, 0, -9.81]}\n"
    "bodies:\n  'a[i=1..3]': {mass: m, inertia: [1, 2, 3], start: {at: [i, 0, 0]}}\n"
    "  b: {mass: 1, inertia: [[1, 0, 0], [0, 2, 0], [0, 0, 3]], centre: [1, 2, 3]}\n"
    "  c: {shape: {cylinder: [1, 2], density: 3}, start: {rotation: {zyx: [1, 2, 3]}},\n"
    "      rate: {velocity: [1, 2, 3], omega: [1, 0, 0]}}\n"
    "joints:\n  'j[i=2..3]': {spherical: ['a[i-1]', 'a[i]'], at: [1, 0, 0]}\n"
    "  k: {universal: [ground, b], axis: [0, 1, 1], axis2: [1, 0, 0], start: [1, 2]}\n"
    "  l: {screw: [b, c], pitch: 2, axis: [1, 2, 3], cut: true, drive: t}\n"
    "  n: {planar: [b, c], turn: {xyz: [1, 2, 3]}, cut: true}\n";
// And of shapes that touch.
static const char plane_shapes[] =
    "model: all\nparameters: {m: 2}\n"
    "bodies:\n  ground: {shapes: {f: {plane: {at: [0, m], normal: [1, 2]}}, b: {box: [1, 2], at: "
    "[1, "
    "1],\n    turn: 0.1}, p: {polygon: [[0, 0], [1, 0], [0, 1]]}}}\n"
    "  'a[i=1..3]': {mass: m, shape: {disc: 'm/i'}, start: {at: [i, 0]}}\n"
    "  c: {mass: 1, shape: {capsule: [1, 2]}}\n  d: {mass: 1, shape: {box: [1, 2]}}\n"
    "contacts:\n  'u[i=1..2, j=i+1..3]': {between: ['a[i]', 'a[j]'], friction: 0.3}\n"
    "  v: {between: ['a[1]', ground.p], friction: {static: 0.3, kinetic: 0.2}}\n"
    "  w: {between: [ground.f, d], restitution: 0.3}\n  x: {between: [c, ground.b]}\n";
static const char space_shapes[] =
    "model: all\nparameters: {m: 2}\n"
    "bodies:\n  ground: {shape: {plane: {normal: [0, 0, m]}}}\n"
    "  a: {mass: m, shape: {sphere: 1, at: [1, 0, 0]}}\n"
    "  c: {mass: 1, shape: {cylinder: [1, 2]}, shapes: {k: {capsule: [1, 2], turn: {zyx: [1, 2, "
    "3]}}}}\n"
    "contacts:\n  u: {between: [a, c], friction: 0.3}\n  v: {between: [ground, c], rim: 3}\n"
    "  w: {between: [c, ground], friction: 0.3}\n  x: {between: [c.k, a]}\n";
static const char* const seeds[] = {everything, plane_mechanism, space_mechanism, plane_shapes,
                                    space_shapes};
enum { SEEDS = 5, SEED_ROOM = 4096 };

static PawlStatus try_bytes(const char* text, size_t length, PawlError* err) {
  PawlModel* model;
  const char* override = "m=3";
  PawlStatus status = pawl_model_parse(text, length, "m.yaml", 1, &override, &model, err);
  assert_true((status == PAWL_OK) == (model != NULL));
  pawl_model_destroy(model);
  return status;
}

static void check_failing_allocations(const char* text) {
  PawlError err = {0};
  long long before = pawl_alloc_count();
  PawlStatus first = try_bytes(text, strlen(text), &err);
  if (first != PAWL_OK) {
    print_error("%s\n", err.message);
  }
  assert_int_equal(first, PAWL_OK);
  long long total = pawl_alloc_count() - before;
  assert_true(total > 50);
  for (long long n = 1; n <= total; n++) {
    pawl_alloc_fail_at(n);
    PawlStatus status = try_bytes(text, strlen(text), &err);
    pawl_alloc_fail_at(0);
    assert_int_equal(status, PAWL_ERROR_MEMORY);
    assert_string_equal(err.message, "out of memory");
  }
}

static void test_failing_allocations(void** state) {
  (void)state;
  for (int k = 0; k < SEEDS; k++) {
    check_failing_allocations(seeds[k]);
  }
}

// The same for a text with mistakes: reporting needs memory too.
static void test_failing_allocations_with_mistakes(void** state) {
  (void)state;
  static const char text[] =
      "model: m\nparamters: 1\nparameters: {a: 1, b: c, c: 2}\n"
      "coordinates: {x: {start: a, rat: 1}, \"u[i=0..2]\": , \"u[1]\": }\n"
      "define: {p: q, q: r, r: p, s: xx}\nkinetic: s + y'\nforces: {z: 1}\n";
  PawlError err = {0};
  long long before = pawl_alloc_count();
  assert_int_equal(try_bytes(text, strlen(text), &err), PAWL_ERROR_MODEL);
  long long total = pawl_alloc_count() - before;
  for (long long n = 1; n <= total; n++) {
    pawl_alloc_fail_at(n);
    PawlStatus status = try_bytes(text, strlen(text), &err);
    pawl_alloc_fail_at(0);
    assert_int_equal(status, PAWL_ERROR_MEMORY);
  }
}

static unsigned next_random(unsigned long long* seed) {
  *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(*seed >> 33);
}

// One change: a byte flipped, deleted, doubled, or a piece moved elsewhere.
static size_t mutate(char* text, size_t length, unsigned long long* seed) {
  static const char likely[] = "{}[]()'\":,-=.<>^*/+ \n#&!|ixyzN019et";
  size_t at = next_random(seed) % length;
  switch (next_random(seed) % 5) {
    case 0:
      text[at] = (char)(text[at] ^ (1 << next_random(seed) % 8));
      return length;
    case 1:
      text[at] = likely[next_random(seed) % (sizeof likely - 1)];
      return length;
    case 2:
      memmove(text + at, text + at + 1, length - at - 1);
      return length - 1;
    case 3:
      memmove(text + at + 1, text + at, length - at);
      return length + 1;
    default: {
      size_t piece = next_random(seed) % 30, from = next_random(seed) % length;
      piece = piece > length - at ? length - at : piece;
      piece = piece > length - from ? length - from : piece;
      memmove(text + at, text + from, piece);
      return length;
    }
  }
}

static void test_mutations(void** state) {
  (void)state;
  enum { ROUNDS = 9000, MOST = 8 };
  unsigned long long seed = 20240229;
  int good = 0, bad = 0;
  for (int round = 0; round < ROUNDS; round++) {
    char text[SEED_ROOM + MOST + 1];
    const char* from = seeds[round % SEEDS];
    size_t length = strlen(from);
    assert_true(length <= SEED_ROOM);
    memcpy(text, from, length);
    unsigned changes = 1 + next_random(&seed) % MOST;
    for (unsigned k = 0; k < changes; k++) {
      length = mutate(text, length, &seed);
    }
    PawlError err = {0};
    PawlStatus status = try_bytes(text, length, &err);
    if (status == PAWL_OK) {
      good++;
    } else {
      assert_int_equal(status, PAWL_ERROR_MODEL);
      assert_true(strlen(err.message) > 10);
      bad++;
    }
  }
  assert_true(good > ROUNDS / 100 && bad > ROUNDS / 2);  // both ways are exercised
}

static void test_garbage(void** state) {
  (void)state;
  unsigned long long seed = 7;
  for (int round = 0; round < 2000; round++) {
    char text[256];
    size_t length = next_random(&seed) % sizeof text;
    for (size_t k = 0; k < length; k++) {
      unsigned byte = next_random(&seed);
      text[k] = (char)(round % 2 ? byte & 0xFF : 0x20 + byte % 0x5F);
    }
    PawlError err = {0};
    assert_int_equal(try_bytes(text, length, &err), PAWL_ERROR_MODEL);
    assert_true(strlen(err.message) > 10);
  }
}

// A head, a middle part repeated, and a tail.
static PawlText repeated(const char* head, const char* part, int count, const char* tail) {
  PawlText text = {0};
  pawl_text_add(&text, head);
  for (int k = 0; k < count; k++) {
    pawl_text_add(&text, part);
  }
  pawl_text_add(&text, tail);
  assert_false(text.failed);
  return text;
}

static void check_deep(const char* head, const char* part, int count, const char* message) {
  PawlText text = repeated(head, part, count, "\n");
  PawlError err = {0};
  assert_int_equal(try_bytes(text.s, text.length, &err), PAWL_ERROR_MODEL);
  if (!strstr(err.message, message)) {
    print_error("'%s' is not in: %.300s\n", message, err.message);
    fail();
  }
  pawl_text_free(&text);
}

static void test_deep_and_long(void** state) {
  (void)state;
  static const char head[] = "model: m\ncoordinates: [x]\nkinetic: ";
  check_deep(head, "(", 1000000, "m.yaml:3:");
  check_deep(head, "-", 1000000, "m.yaml:3:");
  check_deep(head, "sin(", 200000, "m.yaml:3:");
  check_deep(head, "x^", 100000, "m.yaml:3:");
  check_deep(head, "x+", 600000, "m.yaml:3:");
  check_deep(head, "[", 100000, "m.yaml:3:");
  check_deep(head, "{a: ", 100000, "m.yaml:3:");
  check_deep("model: m\nx: ", "y", 3000000, "m.yaml:2:1: unknown key 'x'");
  check_deep("model: m\ncoordinates: [x]\n", "y", 3000000, "m.yaml:");
}

static void test_many_entries(void** state) {
  (void)state;
  PawlText text = repeated("model: m\ncoordinates: [x]\nkinetic: [", "x,", 1100000, "x]\n");
  REFUSED(text.s, "the file has more than 1000000 entries");
  pawl_text_free(&text);
  text = (PawlText){0};
  pawl_text_add(&text, "model: m\ncoordinates:\n");
  for (int k = 0; k < 100000; k++) {
    pawl_text_printf(&text, "  c%d: %d\n", k, k);
  }
  PawlModel* model = read_model(text.s);
  assert_int_equal(model->coordinate_count, 100000);
  pawl_model_destroy(model);
  pawl_text_free(&text);
}

// ---- files ----------------------------------------------------------------------------------

static PawlStatus load(const char* path, PawlError* err) {
  PawlModel* model;
  PawlStatus status = pawl_model_load(path, 0, NULL, &model, err);
  pawl_model_destroy(model);
  return status;
}

static void test_huge_file(void** state) {
  (void)state;
  char path[] = "/tmp/pawl-huge-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, 100000000), 0);  // takes no room on the disk
  PawlError err = {0};
  long long before = pawl_alloc_count();
  assert_int_equal(load(path, &err), PAWL_ERROR_MODEL);
  assert_true(pawl_alloc_count() == before);  // refused before anything is read
  assert_non_null(strstr(err.message, "has 100000000 bytes; a model has at most 16777216"));
  assert_int_equal(ftruncate(file, 1000), 0);
  assert_int_equal(load(path, &err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(err.message, ":1:1: byte 0x00 is not text"));
  assert_int_equal(ftruncate(file, 0), 0);
  assert_int_equal(load(path, &err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(err.message, "the file is empty"));
  close(file);
  unlink(path);
}

static void test_no_file(void** state) {
  (void)state;
  PawlError err = {0};
  assert_int_equal(load("/nowhere/at/all.yaml", &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "/nowhere/at/all.yaml: "));
  assert_int_equal(load("/tmp", &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "is a directory"));
  assert_int_equal(load("/dev/zero", &err), PAWL_ERROR_FILE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing_allocations),
      cmocka_unit_test(test_failing_allocations_with_mistakes),
      cmocka_unit_test(test_mutations),
      cmocka_unit_test(test_garbage),
      cmocka_unit_test(test_deep_and_long),
      cmocka_unit_test(test_many_entries),
      cmocka_unit_test(test_huge_file),
      cmocka_unit_test(test_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
