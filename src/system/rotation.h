// SPDX-License-Identifier: Apache-2.0
// Unit quaternions p = (p0, p1, p2, p3) that turn vectors of a body into space, and their motion
// with the angular velocity in the axes of the body (docs/theory/rotations.md).
#pragma once

// p' = p o (0, omega)/2                                                                       (O2)
void pawl_rotation_rate(const double p[4], const double omega[3], double rate[4]);
// out = p o exp(turn/2), of length 1; `out` may be `p`.                                       (O3)
void pawl_rotation_move(const double p[4], const double turn[3], double out[4]);
void pawl_rotation_normalise(double p[4]);
