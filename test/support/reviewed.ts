/** Applications that operators review while their messages are on their way (D40). */
import { messageIdsOf, toApplicationId } from '../../src/domain/application/ids.ts';
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { MessageType, OutcomeType } from '../../src/domain/message/notify.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { readMessagesOf } from '../../src/subjects/messages/sql/messages.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from './applicant.ts';
import type { TestDatabase } from './database.ts';
import { registrarOf } from './intake.ts';

export interface Reviews {
  /** Registers an application that waits for a review, with a phone of its own; `phone` is that phone. */
  register(changes?: Parameters<typeof applicant>[0], key?: number): Promise<{ id: number; phone: string }>;
  review(id: number, action: 'approve' | 'reject' | 'disburse'): Promise<void>;
  /** `type status` or `type status (reason)` of each message, oldest first. */
  messages(id: number): Promise<string[]>;
  statusOf(id: number): Promise<ApplicationStatus>;
  /** A key whose brand asks for no second message. */
  readonly silentKey: number;
  readonly key: number;
}

export async function reviewsOn(store: TestDatabase): Promise<Reviews> {
  const { json } = commandLine(store);
  const registered = await registrarOf(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const { id: silentKey } = await json('key', 'issue', '--partner', `${partner}`);
  await store.database.query(`UPDATE api_keys SET brand = '{"after_review": false}' WHERE id = $1`, [
    silentKey,
  ]);
  let phones = 0;
  return {
    key,
    silentKey,
    async register(changes = {}, under = key) {
      phones += 1;
      const phone = toPhone(`+57300${2_000_000 + phones}`);
      const [id] = await registered(under, [applicant({ ...IN_REVIEW, phone, ...changes })]);
      return { id: id as number, phone };
    },
    async review(id, action) {
      await json('application', action, `${id}`, '--reason', 'x');
    },
    async messages(id) {
      const found = await readMessagesOf(store.database, toApplicationId(id));
      return found
        .map(({ type, status, reason }) => `${type} ${status}${reason === null ? '' : ` (${reason})`}`)
        .toReversed();
    },
    async statusOf(id) {
      const text = 'SELECT status FROM applications_of(ARRAY[$1::bigint])';
      return (await store.database.query<{ status: ApplicationStatus }>(text, [id])).rows[0]!.status;
    },
  };
}

/** The status of an application of which each type of message tells. */
export const TELLS = {
  offer: 'in_review',
  approved: 'pending_signature',
  rejected: 'rejected',
  // A reminder tells no status.
  reminder: null,
} as const satisfies Readonly<Record<MessageType, ApplicationStatus | null>>;

/** The id of the message of a type, of an application that waits for a review. */
export function messageOf(id: number, type: OutcomeType) {
  const [offer, approved, rejected] = messageIdsOf(toApplicationId(id));
  return { offer, approved: approved!, rejected: rejected! }[type];
}
