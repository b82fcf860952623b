/**
 * The consequence of each error of WhatsApp's API for a message (docs/messages.md, "Reasons" has the table). Pure. The
 * source is the API's list of error codes and the Graph API's page on error handling. A code about the sender, its
 * account or its token would come for every message, and a code about a template for every message of that template.
 * Such a code pauses the sender or the template, so that no message fails because of it.
 */

import type { SendFailure } from '../../../domain/message/channel.ts';
import type { ChannelCode } from '../../../domain/message/reasons.ts';
import { DAY_MS, HOUR_MS } from '../../../ground/base/clock.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';

const PERMISSION_CODES = Array.from({ length: 100 }, (_, index) => 200 + index);

/** Every known code, by its consequence. Each code as the answer to a send says that nothing was sent. */
export const ERROR_CODES: Readonly<Record<SendFailure['kind'], readonly number[]>> = {
  // The API is down, overloaded or in maintenance; the app, account, number or flow is too fast; or the error is
  // general.
  retry: [2, 4, 17, 341, 80007, 130429, 131000, 131016, 131057, 132069, 133004, 134101, 135000],
  // Too many messages to this recipient in too short a time.
  pause_recipient: [131056],
  // The recipient got enough marketing messages for now.
  wait: [131049],
  // 131047: the 24 hours in which the channel takes free text are over. 131052, 131053: a file cannot be fetched, or is
  // not accepted.
  give_up: [
    100, 130403, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131047, 131051, 131052, 131053,
  ],
  opted_out: [131050],
  // 132000, 132012 and 132018: wrong number or form of parameters. The service makes each value fit the channel, so the
  // template itself is wrong, for every message. 131058: a template for test numbers only. 132068: its flow is blocked.
  // 134102: it is not ready.
  pause_template: [
    131058, 131063, 132000, 132001, 132005, 132007, 132012, 132015, 132016, 132018, 132068, 134102,
  ],
  pause_sender: [
    // Token, permission, app.
    0,
    3,
    10,
    102,
    190,
    ...PERMISSION_CODES,
    131005,
    // The sending number: deleted, without an approved name or certificate, or not registered.
    33,
    131037,
    131045,
    133000,
    133005,
    133006,
    133008,
    133009,
    133010,
    133015,
    133016,
    // The account: blocked, locked, without payment or terms, held back for spam or for its templates.
    368,
    131031,
    131042,
    131048,
    131064,
    134011,
  ],
};

/**
 * Subcodes that change the consequence of their code. 100.33: our number does not exist or belongs to another account.
 */
const ERROR_SUBCODES: ReadonlyMap<string, SendFailure['kind']> = new Map([['100.33', 'pause_sender']]);

/**
 * The Graph API's name for a fault of the address, not of the body: the number takes no posts, or the app has to sign
 * its calls. From version 16 on the subcode may be absent, but the type is always present.
 */
const ADDRESS_FAULT = 'GraphMethodException';

const ACTIONS = keysOf(ERROR_CODES);
const ACTION_OF: ReadonlyMap<number, SendFailure['kind']> = new Map(
  ACTIONS.flatMap((action) => ERROR_CODES[action].map((code) => [code, action])),
);

const WAIT_MS = DAY_MS;
/** The longest wait that the API can ask for, except the day of `wait`. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/** An error as the API reports it, without its texts, which may hold personal data. */
export interface ApiError {
  readonly code: number;
  readonly subcode: number | null;
  readonly type: string | null;
}

/** Reads the error of an answer or of a webhook; null: the error has no code. */
export function readApiError(value: unknown): ApiError | null {
  if (typeof value !== 'object' || value === null) return null;
  const { code, error_subcode: subcode, type } = value as Readonly<Record<string, unknown>>;
  if (!isWhole(code)) return null;
  return {
    code,
    subcode: isWhole(subcode) ? subcode : null,
    type: typeof type === 'string' ? type : null,
  };
}

/**
 * The consequence of an error after the given attempt (from 1); null: the code is not in the table. An error is the
 * answer to a send, or comes later in a webhook's `failed` status.
 */
export function failureOfError({ code, subcode, type }: ApiError, attempt: number): SendFailure | null {
  const precise = subcode === null ? null : (`${code}.${subcode}` as const);
  const special = precise === null ? undefined : ERROR_SUBCODES.get(precise);
  const reason: ChannelCode = special === undefined || precise === null ? `${code}` : precise;
  const action = special ?? (code === 100 && type === ADDRESS_FAULT ? 'pause_sender' : ACTION_OF.get(code));
  switch (action) {
    case undefined:
      return null;
    case 'pause_recipient':
      return { kind: action, reason, afterMs: Math.min(1_000 * 4 ** attempt, MAX_RETRY_AFTER_MS) };
    case 'wait':
      return { kind: action, reason, afterMs: WAIT_MS };
    default:
      return { kind: action, reason };
  }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
