/** The answers of the desk's routes. */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { checkReason, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Answer, Call } from '../../../wire/operator/route.ts';
import type { Claimer } from '../uses/queue.ts';
import { conflict, NotAsSeen, noApplication, Refusal } from '../uses/refusal.ts';

/** What the work answers, or why it is refused. An `OperatorError` is a fault of the body. */
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

/** As `work`, and where it is not as it was seen, the refusal (409) with what it is now, as `told` has it. */
export async function asSeen<Now, Done>(work: Promise<Done>, told: (now: Now) => object): Promise<Done> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NotAsSeen) throw conflict('changed', error.message, { ...told(error.now) });
    throw error;
  }
}

/** Who claims by a request of a route that is not open. */
export function claimerOf({ session, page }: Pick<Call<never, never>, 'session' | 'page'>): Claimer {
  return { operatorId: session.operatorId, page };
}

/** The id in a path. Throws a `Refusal` where no application can have it. */
export function applicationIdOf(text: string | undefined): ApplicationId {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw noApplication();
  return toApplicationId(text!);
}

const LEAST_REASON = 5;

/** Why personal data is read. Throws `OperatorError` where the reason is too short, too long, or no line of text. */
export function reasonOf(text: string): string {
  const reason = checkReason(text);
  if ([...reason].length < LEAST_REASON)
    throw new OperatorError(`the reason must have at least ${LEAST_REASON} characters`);
  return reason;
}
