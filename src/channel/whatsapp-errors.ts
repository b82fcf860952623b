/** What the error codes of WhatsApp's API mean for a message. The table is data; the API's documentation groups it. */
import type { Disposition } from '../domain/channel-event.ts';

/** What a code leads to; `pause_recipient` is a `retry` whose wait grows by four. */
type Action = Disposition['kind'] | 'pause_recipient';

const PERMISSION_CODES = Array.from({ length: 100 }, (_, index) => 200 + index);

/** Every code that is known, by what it leads to. A code that answers a send says that nothing was sent. */
export const ERROR_CODES: Readonly<Record<Action, readonly number[]>> = {
  retry: [2, 4, 80007, 130429, 131000, 131016, 131057, 133004],
  // Too many messages to this recipient in too short a time.
  pause_recipient: [131056],
  // The recipient has had enough advertising for now.
  wait: [131049],
  // 131047 asks for a template instead of free text. Every message is a template, so nothing better can be sent.
  give_up: [100, 130403, 130472, 130497, 131008, 131009, 131021, 131026, 131047, 131051, 132012],
  opted_out: [131050],
  // 132000 is a wrong number of parameters: every message of the template would fail by it.
  pause_template: [131063, 132000, 132001, 132005, 132007, 132015, 132016],
  pause_sender: [
    0,
    3,
    10,
    190,
    ...PERMISSION_CODES,
    368,
    131005,
    131031,
    131042,
    131045,
    131048,
    131064,
    133010,
  ],
};

const ACTION_OF: ReadonlyMap<number, Action> = new Map(
  Object.entries(ERROR_CODES).flatMap(([action, codes]) => codes.map((code) => [code, action as Action])),
);

const WAIT_MS = 24 * 3_600_000;
/** No wait that the API asks for is longer than this, but for the day of `wait`. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * What a code leads to after the given attempt (from 1); null for a code that the table does not have. Codes
 * come as the answer to a send and, later, in a webhook's `failed` status.
 */
export function dispositionOfCode(code: number, attempt: number): Disposition | null {
  const action = ACTION_OF.get(code);
  const reason = String(code);
  switch (action) {
    case undefined:
      return null;
    case 'pause_recipient':
      return { kind: 'retry', reason, afterMs: Math.min(1_000 * 4 ** attempt, MAX_RETRY_AFTER_MS) };
    case 'wait':
      return { kind: 'wait', reason, afterMs: WAIT_MS };
    default:
      return { kind: action, reason };
  }
}
