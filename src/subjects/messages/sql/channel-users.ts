/**
 * Persons at the channel, whose phone the channel does not always tell (docs/messages.md, "Consent"). Reads and writes
 * `channel_users`, and finds the phones of messages.
 */
import { type BlindIndex, toBatchId } from '../../../domain/application/ids.ts';
import { type Database, onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { partitionRunsBefore } from '../../applications/sql/partition-runs.ts';
import { type ChangeCounts, countChanges, type OptOutChange } from './suppressions.ts';

type UserIndex = BlindIndex<'channel_user'>;
type PhoneIndex = BlindIndex<'phone'>;
type ChannelIndex = BlindIndex<'channel_message_id'>;

/** A person whose phone is known. */
export interface KnownUser {
  readonly userIndex: UserIndex;
  readonly phoneIndex: PhoneIndex;
}

/** An opt-out, or its end, of a person whom the channel names only by its own id. */
interface UserChange extends Omit<OptOutChange, 'phoneIndex'> {
  readonly userIndex: UserIndex;
}

const RECENT_FROM = 'SELECT recent_from() AS recent';
const OLDER_MESSAGES = `
  SELECT ${readIndex('channel_message_id')} AS index, message_id AS id FROM older_messages_of_channel($1, $2, $3)`;
/** Two statements, because on a cluster a statement about a table of the coordinator may not ask other machines. */
const MESSAGES = `
  SELECT ${readIndex('channel_message_id')} AS index, message_id AS id FROM messages_of_channel($1)`;
const PHONES = `SELECT id, ${readIndex('phone_index')} AS phone FROM phones_of($1)`;

/** A message, with the blind index of its id at the channel. */
interface ChannelMessage {
  readonly index: ChannelIndex;
  readonly id: string;
}

/** The phones that the messages with these ids of the channel went to. Unknown messages have no entry. */
export async function phonesOfMessages(
  database: Database,
  channelIndexes: readonly ChannelIndex[],
): Promise<Map<ChannelIndex, PhoneIndex>> {
  if (channelIndexes.length === 0) return new Map();
  const messages = await database.query<ChannelMessage>(MESSAGES, [channelIndexes.map(toBigint)]);
  return phonesOf(database, messages.rows);
}

/**
 * As `phonesOfMessages`, for messages that are too old for that search. Looks at all partitions, 16 in a statement,
 * until each message is found: among a thousand partitions that takes a tenth of a second.
 */
export async function phonesOfOldMessages(
  database: Database,
  channelIndexes: readonly ChannelIndex[],
): Promise<Map<ChannelIndex, PhoneIndex>> {
  const missing = new Set(channelIndexes);
  if (missing.size === 0) return new Map();
  const { recent } = onlyRow((await database.query<{ recent: string }>(RECENT_FROM)).rows);
  const found: ChannelMessage[] = [];
  for (const { from, before } of partitionRunsBefore(toBatchId(Number(recent)))) {
    const values = [[...missing].map(toBigint), from, before];
    const { rows } = await database.query<ChannelMessage>(OLDER_MESSAGES, values);
    found.push(...rows);
    for (const { index } of rows) missing.delete(index);
    if (missing.size === 0) break;
  }
  return phonesOf(database, found);
}

async function phonesOf(
  database: Database,
  messages: readonly ChannelMessage[],
): Promise<Map<ChannelIndex, PhoneIndex>> {
  if (messages.length === 0) return new Map();
  const ids = messages.map(({ id }) => id);
  const phones = await database.query<{ id: string; phone: PhoneIndex | null }>(PHONES, [ids]);
  const byId = new Map(phones.rows.map(({ id, phone }) => [id, phone]));
  return new Map(
    messages.flatMap(({ index, id }) => {
      const phone = byId.get(id) ?? null;
      return phone === null ? [] : [[index, phone]];
    }),
  );
}

const USERS = `
  SELECT ${readIndex('user_index')} AS "userIndex", ${readIndex('phone_index')} AS "phoneIndex" FROM channel_users
  WHERE user_index = ANY ($1) AND phone_index IS NOT NULL`;

/** The phones of these persons. Persons with an unknown phone have no entry. */
export async function phonesOfUsers(
  database: Database,
  userIndexes: readonly UserIndex[],
): Promise<Map<UserIndex, PhoneIndex>> {
  if (userIndexes.length === 0) return new Map();
  const { rows } = await database.query<KnownUser>(USERS, [userIndexes.map(toBigint)]);
  return new Map(rows.map(({ userIndex, phoneIndex }) => [userIndex, phoneIndex]));
}

interface ChangeRow {
  readonly was: boolean | null;
  readonly is: boolean | null;
}

const LEARN = 'SELECT was, "is" FROM learn_channel_users($1, $2)';

/** Notes the phones of persons, and applies the opt-outs and resumes that waited for these phones. */
export async function learnUsers(session: Session, users: readonly KnownUser[]): Promise<ChangeCounts> {
  if (users.length === 0) return countChanges([]);
  const { rows } = await session.query<ChangeRow>(LEARN, [
    users.map(({ userIndex }) => toBigint(userIndex)),
    users.map(({ phoneIndex }) => toBigint(phoneIndex)),
  ]);
  return countChanges(rows);
}

const HEAR = 'SELECT was, "is" FROM hear_channel_users($1, $2, $3, $4)';

/**
 * Applies opt-outs and resumes of persons. If a person's phone is unknown, they hold as soon as it is known; `waiting`
 * counts these persons.
 */
export async function hearUsers(
  database: Database,
  changes: readonly UserChange[],
): Promise<ChangeCounts & { readonly waiting: number }> {
  if (changes.length === 0) return { ...countChanges([]), waiting: 0 };
  const { rows } = await database.query<ChangeRow>(HEAR, [
    changes.map(({ userIndex }) => toBigint(userIndex)),
    changes.map(({ stops }) => stops),
    changes.map(({ source }) => source),
    changes.map(({ at }) => at),
  ]);
  return { ...countChanges(rows), waiting: rows.filter(({ was }) => was === null).length };
}
