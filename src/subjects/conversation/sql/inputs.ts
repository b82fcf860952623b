/**
 * The inputs of conversations, which are everything that happened to them: stored once each and sealed, then taken by
 * turns in their order (D43). Writes by `add_inputs`, and reads `conversation_inputs`.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { DocumentDecided, OperatorInput, WorkInput } from '../../../domain/conversation/input.ts';
import type { ReceivedWithdrawal } from '../../../domain/loan/withdrawal.ts';
import type { MediaKind, OtherMessage } from '../../../domain/message/channel-event.ts';
import { Bell } from '../../../ground/base/bell.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { ConversationId } from './conversations.ts';

/** Rings after a transaction with inputs has committed, so that this process goes on at once. */
export const INPUT_BELL = new Bell();

/** A file at the channel, with what the channel claims about it. */
export interface StoredFile {
  readonly kind: 'file';
  readonly media: MediaKind;
  readonly mediaId: string;
  readonly claimedType: string | null;
  readonly claimedSha256: string | null;
  readonly filename: string | null;
}

/** What an input holds, sealed. */
export type InputContent =
  /** The tap on "I am interested". */
  | { readonly kind: 'interest' }
  /** An operator begins the conversation. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'tap'; readonly payload: string }
  | { readonly kind: 'text'; readonly body: string }
  | StoredFile
  | { readonly kind: 'other'; readonly what: OtherMessage }
  /** A code for an income source, which was handed on and is not kept. */
  | { readonly kind: 'handed_on' }
  | { readonly kind: 'opted_out' }
  | { readonly kind: 'status'; readonly status: ApplicationStatus }
  | OperatorInput
  | ({ readonly kind: 'withdrawal_received' } & ReceivedWithdrawal)
  /** The loan is paid out. */
  | { readonly kind: 'paid_out' }
  | DocumentDecided
  | WorkInput;

/**
 * `channelId`: the channel's id of the person's message, sealed because it may contain the phone. `isOfOtherPhone`: the
 * message came from another phone than the application's. `documentIndex`: the index of the message whose file was
 * read. `sentMs`: when the person sent it, by the channel's clock, even if that is ahead of the database's.
 */
export type SealedInput = InputContent & {
  readonly channelId?: string | null;
  readonly isOfOtherPhone?: boolean;
  readonly documentIndex?: string;
  readonly sentMs?: number;
};

/** Where an input comes from. */
export type InputSource = 'person' | 'work' | 'sweep' | 'operator';

export interface NewInput {
  readonly conversationId: ConversationId;
  readonly applicationId: ApplicationId;
  readonly messageIndex: BlindIndex<'channel_message_id'> | null;
  readonly workId: string | null;
  /** By the channel's clock; null: now. */
  readonly at: Date | null;
  readonly content: SealedInput;
}

/** The identity that an input is sealed under. */
export function inputIdentity(applicationId: ApplicationId | string, sealId: string): string {
  return `conversation input:${applicationId}:${sealId}`;
}

const ADD = 'SELECT add_inputs($1, $2, $3, $4, $5, $6, $7, $8, $9) AS added';

/**
 * Stores inputs of one source in their order, each once by its message or its work. Returns how many are new. Throws if
 * the vault seals with a retired data key.
 */
export async function addInputs(
  session: Session,
  vault: Vault,
  source: InputSource,
  inputs: readonly NewInput[],
): Promise<number> {
  if (inputs.length === 0) return 0;
  const sealIds = inputs.map(() => uuidv7());
  const { rows } = await session.query<{ added: number }>(ADD, [
    inputs.map(({ conversationId }) => conversationId),
    inputs.map(({ applicationId }) => applicationId),
    source,
    sealIds,
    inputs.map(({ messageIndex }) => messageIndex && toBigint(messageIndex)),
    inputs.map(({ workId }) => workId),
    // The statement replaces a time in the future by the present.
    inputs.map(({ at }) => at ?? 'infinity'),
    inputs.map(({ content }) => content.kind === 'file'),
    inputs.map(({ applicationId, content }, index) =>
      vault.seal(JSON.stringify(content), inputIdentity(applicationId, sealIds[index]!)),
    ),
  ]);
  return onlyRow(rows).added;
}

const HAND_ON = 'UPDATE conversation_inputs SET content = $2 WHERE id = $1 AND may_seal(get_byte($2, 0))';

/** Removes the code from an input after it was handed on to an income source. Throws if the data key is retired. */
export async function forgetCode(session: Session, vault: Vault, row: InputRow): Promise<void> {
  const content: SealedInput = { kind: 'handed_on' };
  const sealed = vault.seal(JSON.stringify(content), inputIdentity(row.applicationId, row.sealId));
  const { rowCount } = await session.query(HAND_ON, [row.id, sealed]);
  if (rowCount !== 1) throw new Error('an input is sealed with a data key that is retired');
}

/** An input as it is stored. */
export interface InputRow {
  readonly id: string;
  readonly conversationId: ConversationId;
  readonly applicationId: ApplicationId;
  readonly source: InputSource;
  readonly sealId: string;
  readonly messageIndex: BlindIndex<'channel_message_id'> | null;
  readonly at: Date;
  readonly content: Buffer;
}

/** The columns of an `InputRow`. */
export const INPUT_COLUMNS = `id, conversation_id AS "conversationId", application_id::float8 AS "applicationId",
  source, seal_id AS "sealId", ${readIndex('message_index')} AS "messageIndex", at, content`;
const WAITING = `
  SELECT ${INPUT_COLUMNS} FROM conversation_inputs WHERE conversation_id = ANY ($1::bigint[]) AND turn IS NULL
  ORDER BY conversation_id, at, id`;

/**
 * The inputs that wait for turns of these conversations: of each one in the order of the channel's time, then of their
 * arrival.
 */
export async function waitingInputs(session: Session, ids: readonly ConversationId[]): Promise<InputRow[]> {
  return (await session.query<InputRow>({ name: 'conversation_waiting', text: WAITING, values: [ids] })).rows;
}

const NEWEST_OF_PERSONS = `
  SELECT i.* FROM unnest($1::bigint[]) AS g(id) CROSS JOIN LATERAL (
    SELECT ${INPUT_COLUMNS} FROM conversation_inputs n WHERE n.conversation_id = g.id AND n.source = 'person'
    ORDER BY n.id DESC LIMIT 1) AS i`;

/** The newest message from the person of each of these conversations. */
export async function newestOfPersons(session: Session, ids: readonly ConversationId[]): Promise<InputRow[]> {
  if (ids.length === 0) return [];
  const values = [ids];
  return (await session.query<InputRow>({ name: 'conversation_newest', text: NEWEST_OF_PERSONS, values }))
    .rows;
}

const ONE = `SELECT ${INPUT_COLUMNS} FROM conversation_inputs WHERE id = $1`;

/** One input; null: it was erased. */
export async function inputOf(session: Session, id: string): Promise<InputRow | null> {
  return (await session.query<InputRow>(ONE, [id])).rows[0] ?? null;
}

const OF_CONVERSATION = `
  SELECT ${INPUT_COLUMNS}, turn FROM conversation_inputs WHERE conversation_id = $1 ORDER BY id DESC LIMIT 500`;

/** The newest 500 inputs of a conversation, oldest first. */
export async function inputsOf(
  session: Session,
  id: ConversationId,
): Promise<(InputRow & { readonly turn: number | null })[]> {
  const { rows } = await session.query<InputRow & { turn: number | null }>(OF_CONVERSATION, [id]);
  return rows.toReversed();
}

/** Opens an input. Throws `UnknownDataKeyError` if this process lacks its key, and another error if it is damaged. */
export function openInput(
  vault: Vault,
  row: Pick<InputRow, 'applicationId' | 'sealId' | 'content'>,
): SealedInput {
  const identity = inputIdentity(row.applicationId, row.sealId);
  return JSON.parse(vault.open(row.content, identity).toString('utf8')) as SealedInput;
}
