// SPDX-License-Identifier: Apache-2.0
import { start } from './main.js';
import { SpaceView } from './space.js';

start(SpaceView);
