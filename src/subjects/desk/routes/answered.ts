/**
 * What the routes of the desk share: they turn refusals and faults of a body into answers of HTTP, and read ids,
 * claimers and reasons from a request. `rules/conflict.ts` has the codes.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { checkReason, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Answer, Call } from '../../../wire/operator/route.ts';
import type { Claimer } from '../uses/queue.ts';
import { conflict, NotAsSeen, noApplication, Refusal } from '../uses/refusal.ts';

/** The answer of the work, or of its refusal. An `OperatorError` counts as a fault of the body. */
export async function answered<Reply>(work: () => Promise<Answer<Reply>>): Promise<Answer<Reply>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperatorError) return { status: 400, body: { error: `body: ${error.message}` } };
    if (!(error instanceof Refusal)) throw error;
    const { status, message, facts, retryAfterSeconds } = error;
    const body = { ...facts, error: message };
    return { status, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }
}

/** Does the work. If something is not as it was shown, refuses (409) with what it is now, in the form of `told`. */
export async function asSeen<Now, Done>(work: Promise<Done>, told: (now: Now) => object): Promise<Done> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NotAsSeen) throw conflict('changed', error.message, { ...told(error.now) });
    throw error;
  }
}

/** Who claims with a request to a route that needs a session. */
export function claimerOf({ session, page }: Pick<Call<never, never>, 'session' | 'page'>): Claimer {
  return { operatorId: session.operatorId, page };
}

/** The id in a path. Throws a `Refusal` if no application can have this id. */
export function applicationIdOf(text: string | undefined): ApplicationId {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw noApplication();
  return toApplicationId(text!);
}

const LEAST_REASON = 5;

/**
 * The reason for reading personal data. Throws `OperatorError` if it is too short, too long, or not one line of text.
 */
export function reasonOf(text: string): string {
  const reason = checkReason(text);
  if ([...reason].length < LEAST_REASON)
    throw new OperatorError(`the reason must have at least ${LEAST_REASON} characters`);
  return reason;
}
