/** How often the channel of the scripted applicants does what. Data alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../test/support/http-answer.ts';
import { errorAnswer, type Fault } from '../../test/support/whatsapp-api.ts';

export interface Shares {
  /** Of a person's messages: no webhook tells of it. */
  readonly lost: number;
  /** Of all news: it comes twice, late, or (of a reply's fate) never. */
  readonly doubled: number;
  readonly late: number;
  readonly latestMs: number;
  readonly untold: number;
  /** Of the requests for files: so many are slow, and so many fail. */
  readonly files: number;
  /** How often sends fail, as a factor of `SEND_FAULTS`. */
  readonly faults: number;
}

/** What becomes of a send beside its answer. */
export interface Fate {
  /** The channel took it, and reports later that the phone cannot be reached. */
  readonly fails?: true;
  /** The phone shows it long after the usual time, and then the news of it come. */
  readonly isSlow?: true;
}

interface SendFault {
  readonly share: number;
  /** An offer that is lost begins no conversation, so these are of replies alone. */
  readonly isOfReplies: boolean;
  readonly fault: () => Fault | undefined;
  readonly fate: Fate;
}

const refused = (answer: Answer): SendFault => ({
  ...{ share: 0.01, isOfReplies: false, fault: () => ({ answer, accept: false }), fate: {} },
});

export const SEND_FAULTS: readonly SendFault[] = [
  // The channel says that it did not take the message.
  refused(errorAnswer(130429, 429)),
  refused(errorAnswer(131000, 500)),
  refused({ status: 503, headers: { 'Retry-After': '1' }, body: '' }),
  // The channel took it, and the answer is lost, late or damaged.
  {
    share: 0.01,
    isOfReplies: false,
    fault: () => ({ accept: true, answer: 'close' }),
    fate: {},
  },
  {
    share: 0.003,
    isOfReplies: false,
    fault: () => ({ accept: true, answer: 'never' }),
    fate: {},
  },
  {
    share: 0.005,
    isOfReplies: false,
    fault: () => ({ accept: true, answer: { status: 200, body: '{' } }),
    fate: {},
  },
  { share: 0.02, isOfReplies: false, fault: () => ({ held: sleep(2_500) }), fate: {} },
  // The reply is lost, and nobody says so.
  {
    share: 0.01,
    isOfReplies: true,
    fault: () => ({ accept: false, answer: 'close' }),
    fate: {},
  },
  {
    share: 0.005,
    isOfReplies: true,
    fault: () => ({ accept: false, answer: { status: 502, body: '<html>' } }),
    fate: {},
  },
  { share: 0.01, isOfReplies: true, fault: () => undefined, fate: { isSlow: true } },
  { share: 0.01, isOfReplies: true, fault: () => undefined, fate: { fails: true } },
];

/** The longest that a file takes where it is slow. */
export const SLOW_FILE_MS = 8_000;

/** What happens to a request for a file. */
export const FILE_FAULTS: readonly (Answer | 'close')[] = [
  'close',
  { status: 500 },
  { status: 502, body: '<html>' },
  { status: 429, headers: { 'Retry-After': '1' } },
];

/** The usual share of everything. */
export const USUAL_SHARES: Shares = {
  ...{ lost: 0.02, doubled: 0.05, late: 0.1, latestMs: 4_000, untold: 0.1, files: 0.05, faults: 1 },
};
