/**
 * Which reasons messages tell (D50): what an applicant was told is stored with the message. Calls `note_told_reasons`,
 * and reads `told_reasons`.
 */
import { type ApplicationId, applicationOfMessage, type MessageId } from '../../../domain/application/ids.ts';
import { reviewReason, type WordedReason } from '../../../domain/application/refusal.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { reasonsOfApplications } from '../../applications/sql/decided-reasons.ts';

const NOTE = 'SELECT note_told_reasons($1, $2, $3, $4)';

/** Notes the reasons of those of the messages that tell any. */
export async function noteToldReasons(
  session: Transaction,
  messages: readonly OutgoingMessage[],
): Promise<void> {
  const telling = messages.flatMap(({ messageId, applicationId, told }) =>
    told === undefined ? [] : [{ messageId, applicationId, told }],
  );
  if (telling.length === 0) return;
  await session.query(NOTE, [
    telling.map(({ messageId }) => messageId),
    telling.map(({ applicationId }) => applicationId),
    telling.map(({ told }) => told.codes.join(',')),
    telling.map(({ told }) => told.language),
  ]);
}

const TOLD =
  'SELECT message_id AS "messageId", codes FROM told_reasons WHERE message_id = ANY ($1::bigint[])';

/** The codes that each of these messages told; one without reasons is absent. */
export async function toldCodes(
  session: Session,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, readonly string[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<{ messageId: MessageId; codes: string[] }>(TOLD, [ids]);
  return new Map(rows.map(({ messageId, codes }) => [messageId, codes]));
}

/** The same with their words, to show the messages as they went out. */
export async function toldReasons(
  session: Session,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, readonly WordedReason[]>> {
  const told = await toldCodes(session, ids);
  if (told.size === 0) return new Map();
  const applications: ApplicationId[] = [...told.keys()].map(applicationOfMessage);
  const decided = await reasonsOfApplications(session, applications);
  return new Map(
    [...told].map(([id, codes]) => [
      id,
      codes.flatMap((code) => {
        const words = decided.get(applicationOfMessage(id))?.find((one) => one.code === code)?.words;
        return words ? [{ code, words }] : reviewReason(code);
      }),
    ]),
  );
}
