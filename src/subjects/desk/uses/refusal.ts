/**
 * The errors by which the desk refuses what an operator asks for (docs/operators.md, "Proposals" has the codes). Pure.
 * `routes/answered.ts` turns them into answers.
 */
import type { Conflict } from '../rules/conflict.ts';
import type { SpentKey } from '../sql/desk-requests.ts';

/** `404`: there is none; `412`: something has happened since; `429`: too often. A 409 has a code instead. */
export type RefusalStatus = 400 | 403 | 404 | 412 | 428 | 429;

/** The request is not carried out. The operator reads the message as it is. It repeats nothing about a person. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: RefusalStatus | 409;
  /** More fields of the answer's body, such as who did what when. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** For `429`: when to come again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    why: RefusalStatus | Conflict,
    message: string,
    {
      facts = {},
      retryAfterSeconds,
    }: { readonly facts?: Readonly<Record<string, unknown>>; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    const isConflict = typeof why === 'string';
    this.status = isConflict ? 409 : why;
    this.facts = isConflict ? { code: why, ...facts } : facts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The refusal (409) of what does not fit a state, or what another operator does. */
export function conflict(
  code: Conflict,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): Refusal {
  return new Refusal(code, message, { facts });
}

/** What an act is about has changed since it was shown to the operator. Nothing is done. */
export class NotAsSeen<Now> extends Error {
  override readonly name = 'NotAsSeen';
  /** What it is about now. */
  readonly now: Now;

  constructor(now: Now) {
    super('this has changed since it was shown: look at it again');
    this.now = now;
  }
}

/** There is no application with the id of the request. */
export function noApplication(): Refusal {
  return new Refusal(404, 'there is no such application');
}

/** The same refusal as the listener's for a route that needs a new sign-in. */
export function needsSignIn(): Refusal {
  return new Refusal(403, 'sign in again: this needs a sign-in of the last five minutes', {
    facts: { needs: 'sign-in' },
  });
}

/** The refusal of a key that was first sent with another request. */
export function otherRequest(): Refusal {
  return new Refusal(400, 'the Idempotency-Key was used for another request: take a new one');
}

/** As `otherRequest`, or the operator has undone the request of this key before it began. */
export function spentKey(before: SpentKey): Refusal {
  if (before === 'other') return otherRequest();
  return new Refusal(400, 'what this Idempotency-Key stands for was undone before it began: take a new one');
}
