/** The bells of this process: what was committed wakes the loop that goes on with it. */
import { Bell } from '../../../ground/base/bell.ts';

/** Inputs are stored. */
export const INPUT_BELL = new Bell();
/** Work is queued. */
export const WORK_BELL = new Bell();
