/**
 * Does the work of a request when its partner is admitted (D37; ARCHITECTURE, "Who is served when"): the same at each
 * listener that takes batches. Touches the admission alone.
 */
import type { PartnerId } from '../../domain/partner/credential.ts';
import { RequestError } from '../contract/request.ts';
import { type Admission, costOf, costOfEnvelopes, type Leave } from './admission.ts';

/** A request whose body is read. */
interface Turn {
  readonly partnerId: PartnerId;
  readonly bodyBytes: number;
  /** How many events it may read. */
  readonly events?: number;
  /** The latest time of the answer, on `Clock.monotonicMs`. */
  readonly deadline: number;
  /** Whether the client has left. */
  readonly isGone: () => boolean;
}

/**
 * Waits for the turn, and then does the work. Work whose size shows only later is paced: before each part, other
 * partners get their turn. Throws `OverloadError`, and `RequestError` for a client that left.
 */
export async function inTurn<T>(
  admission: Admission,
  { partnerId, bodyBytes, events = 0, deadline, isGone }: Turn,
  work: (pace: (envelopes: number, bytes: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  let leave: Leave | null = null;
  let isOver = false;
  const enter = async (cost: number) => {
    leave?.();
    leave = null;
    const entered = await admission.enter(partnerId, cost, deadline);
    // A client that left while it waited gets nothing registered, because it would never see the answer.
    if (isOver || isGone()) {
      entered();
      throw new RequestError('bad_request');
    }
    leave = entered;
  };
  try {
    await enter(costOf(bodyBytes, events));
    return await work((envelopes, bytes) => enter(costOfEnvelopes(envelopes, bytes)));
  } finally {
    isOver = true;
    (leave as Leave | null)?.();
  }
}
