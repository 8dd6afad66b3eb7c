// SPDX-License-Identifier: Apache-2.0
// The scene of a model as numbers. Each number of a shape (a coordinate of a point, a radius) is
// either fixed, known from the parameters, or a channel, known at each instant; equal expressions
// share one.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "model/model.h"

typedef struct PawlScene PawlScene;  // borrows the model

PAWL_CHECKED PawlStatus pawl_scene_create(const PawlModel* model, PawlScene** out, PawlError* err);
void pawl_scene_destroy(PawlScene* scene);  // NULL is allowed

int pawl_scene_channels(const PawlScene* scene);
int pawl_scene_fixed(const PawlScene* scene, const double** values);  // their count
// Where a number of the scene is found: channel k >= 0, or fixed number -1 - k.
int pawl_scene_place(const PawlScene* scene, PawlNode node);
// The channels at an instant; what has no value there is NaN. Allocates nothing.
void pawl_scene_look(PawlScene* scene, const PawlLeafValues* at, double* channels);
