/** The machine's clock does what the clock of tests does. */
import { machineClock } from '../../src/ground/base/clock.ts';
import { isAClock } from './clock-contract.ts';

isAClock('the machine’s clock', () => ({
  clock: machineClock,
  pass: (ms) => machineClock.sleep(ms + 5),
}));
