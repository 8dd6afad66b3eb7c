// SPDX-License-Identifier: Apache-2.0
import { start } from './main.js';
import { PlaneView } from './plane.js';

start(PlaneView);
