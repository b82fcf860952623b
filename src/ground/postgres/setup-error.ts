/**
 * The errors with which a start refuses a setting or a server. Pure. `ground/postgres/patience.ts` has the
 * rule of what may pass.
 */
import { ToldError } from '../base/told-error.ts';

/** A clear refusal for people: no stack is shown with it. */
export class SetupError extends ToldError {}

/** A refusal whose reason may pass: a start tries again for a while before it shows the reason. */
export class PassingSetupError extends SetupError {}
