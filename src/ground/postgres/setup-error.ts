import { ToldError } from '../base/told-error.ts';

/** A clear refusal for people: no stack is shown with it. */
export class SetupError extends ToldError {}

/** A refusal whose reason may pass: a start waits before it tells of it. */
export class PassingSetupError extends SetupError {}
