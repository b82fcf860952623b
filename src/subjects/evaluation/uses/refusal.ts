/** Why a trial is refused, as codes for the console (D51; docs/policy.md, "The console"). Pure. */
import { OperatorError } from '../../../program/operations/operator-context.ts';

/** The codes with which the routes of trials refuse (409). */
export const TRIAL_CONFLICTS = [
  /** The version is live: its shadow would be itself. */
  'live',
  /** A shadow of the version runs already. */
  'shadow_runs',
  /** So many shadows run that another one would cost the upkeep too much. */
  'too_many_shadows',
  /** No shadow of the version runs. */
  'no_shadow',
  /** Other backtests run or wait in this process. */
  'too_many_backtests',
] as const;
export type TrialConflict = (typeof TRIAL_CONFLICTS)[number];

/** As `OperatorError`, with a code for the console. */
export class TrialRefusal extends OperatorError {
  constructor(code: TrialConflict, message: string) {
    super(message, code);
  }
}
