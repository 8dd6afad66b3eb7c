// SPDX-License-Identifier: Apache-2.0
// Conditions on the forces of contacts with friction beside a joint with a capacity, which slides
// or locks elsewhere: they see the force of the contact, whatever is shown of the joint.
#include <math.h>

#include "step/contacts.h"

// A block lies on a belt with 10 N all the time; a brake stops the belt, and locks. The catch waits
// for a force that rises through 9 N, which never comes.
static const char LYING[] =
    "model: lying\n"
    "coordinates: {x: {rate: 0.1}, y: , z: {rate: 1}, a: {rate: 0.2}}\n"
    "mass: {x: 1, y: 1, z: 1, a: 0.02}\n"
    "potential: 10*y\n"
    "locks:\n"
    "  brake: {lock: a, engaged: true, capacity: 0.3}\n"
    "  catch: {lock: z, when: 'lambda(floor) - 9', direction: up, for: 0.05}\n"
    "contacts: {floor: {gap: y, friction: 0.3, slip: \"x' - 0.1*a'\"}}\n";

// A mass falls by 0.05 m and lies with 9.81 N from then on; the catch closes when it lands. The
// brake slides all along.
static const char FALLING[] =
    "model: falling\n"
    "coordinates: {x: {rate: 0.1}, y: {start: 0.05}, z: {rate: 1}, a: {rate: 1}}\n"
    "mass: {x: 1, y: 1, z: 1, a: 1}\n"
    "potential: 9.81*y\n"
    "locks:\n"
    "  brake: {lock: a, engaged: true, capacity: 0.3}\n"
    "  catch: {lock: z, when: 'lambda(floor) - 9', direction: up}\n"
    "contacts: {floor: {gap: y, friction: 0.3, slip: x}}\n";

// What is caught is where it was then: 1 m/s until that time.
static double caught_at(const char* text, const char* method, double h) {
  Motion m = motion_text(text);
  motion_run(&m, method, 0.2, (int)(0.2 / h + 0.5), NULL);
  double z = m.state->q[2];
  motion_end(&m);
  return z;
}

static void test_force_that_stays_fires_nothing(void** state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(caught_at(LYING, METHODS[k], 1e-2), 0.2, 1e-12);
    CHECK_NEAR(caught_at(LYING, METHODS[k], 1e-3), 0.2, 1e-12);
  }
}

static void test_force_that_comes_fires(void** state) {
  (void)state;
  double lands = sqrt(2.0 * 0.05 / 9.81);
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (double h = 1e-2; h > 1e-4; h *= 0.1) {  // hits are felt in their step or the next
      CHECK_NEAR(caught_at(FALLING, METHODS[k], h), lands + 0.75 * h, 0.75 * h);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_force_that_stays_fires_nothing),
      cmocka_unit_test(test_force_that_comes_fires),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
