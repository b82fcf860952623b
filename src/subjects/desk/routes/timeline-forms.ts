/** The form of the timeline: what happened to an application, by whom. */
import { Type } from 'typebox';
import { APPLICATION_STATUSES, REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { MISSING, PEND_ENDS } from '../rules/pend.ts';
import { RETURN_CODES } from '../rules/returned.ts';
import { form, oneOf, orNull, Time } from './form.ts';

/** Who did something. `id` null: no operator with an account. `command_line`: the machine's owner did it (D48). */
const Actor = form({
  way: oneOf(['service', 'applicant', 'operator', 'command_line']),
  id: orNull(Type.Integer()),
  login: Type.String(),
});

/** The registration, the reviews, the applicant's tap and signature, the pends, and proposals that came to nothing. */
export const Event = form({
  at: Time,
  by: Actor,
  act: oneOf([
    ...(['register', 'approve', 'reject', 'disburse', 'interested', 'free_phone'] as const),
    ...(['sign', 'pend', 'pend_end', 'decline', 'return'] as const),
  ]),
  from: orNull(oneOf(APPLICATION_STATUSES)),
  to: orNull(oneOf(APPLICATION_STATUSES)),
  reason: Type.String(),
  reason_code: orNull(oneOf(ALL_REASON_CODES)),
  /** The second operator of an act that needs two. */
  second: orNull(Actor),
  /** Of a pend and of its end: what was missing. */
  missing: orNull(Type.Array(oneOf(MISSING))),
  /** How a pend ended. */
  end: orNull(oneOf(PEND_ENDS)),
  /** The decision that a second operator declined, or that came back to its maker. */
  proposal: orNull(
    form({ act: oneOf(REVIEW_ACTIONS), maker: Actor, returned_for: orNull(oneOf(RETURN_CODES)) }),
  ),
});
