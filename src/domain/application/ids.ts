/**
 * The ids of batches, applications and messages, how one follows from another, and the type of blind indexes. Pure. The
 * id of an application is its batch's id times 128 plus its position (docs/decisions/0006-one-row-a-batch.md).
 */

declare const APPLICATION: unique symbol;
declare const BATCH: unique symbol;
declare const MESSAGE: unique symbol;
declare const KIND: unique symbol;

/** The id of an application, as partners and operators see it: a whole number from 1 on. */
export type ApplicationId = number & { readonly [APPLICATION]: true };

/** The id of a stored batch: the decimal text of a bigint. */
export type BatchId = string & { readonly [BATCH]: true };

/** The id of a message: the decimal text of a bigint. */
export type MessageId = string & { readonly [MESSAGE]: true };

/** The kinds of values that are searched by a keyed hash. */
export type BlindIndexKind = 'phone' | 'id_number' | 'channel_message_id' | 'channel_user';

/** A keyed hash as 16 hex digits. Only the vault makes them. The types keep the kinds apart. */
export type BlindIndex<Kind extends BlindIndexKind> = string & { readonly [KIND]: Kind };

const POSITIONS_A_BATCH = 128;

/** Makes an id from a checked number or from the decimal text of a bigint column. */
export function toApplicationId(value: number | string): ApplicationId {
  return Number(value) as ApplicationId;
}

/** Makes an id from the value of a bigint column. */
export function toBatchId(value: number | string): BatchId {
  return String(value) as BatchId;
}

/** The id of the application at a position of a batch. */
export function applicationIdAt(batch: BatchId, position: number): ApplicationId {
  return toApplicationId(Number(batch) * POSITIONS_A_BATCH + position);
}

/** The batch of an application and its position there: the inverse of `applicationIdAt`. */
export function batchAndPositionOf(application: ApplicationId): { batchId: BatchId; position: number } {
  const position = application % POSITIONS_A_BATCH;
  return { batchId: toBatchId((application - position) / POSITIONS_A_BATCH), position };
}

/** The batch numbers of a partition (`partition_width` in `sql/functions/applications/partitions.sql`). */
const PARTITION_BATCHES = 2 ** 23;

/** The partition of a batch, counted from 0. */
export function partitionOfBatch(batch: BatchId): number {
  return Math.floor(Number(batch) / PARTITION_BATCHES);
}

/** The partition of an application or a message; -1 for messages after reviews, which have one of their own. */
export function partitionOf(id: ApplicationId | MessageId): number {
  const number = Number(id);
  return number < 2 ** APPLICATION_BITS ? Math.floor(number / (PARTITION_BATCHES * POSITIONS_A_BATCH)) : -1;
}

/** The batches of a partition: `from` <= id < `before`. */
export function batchesOfPartition(partition: number): { from: BatchId; before: BatchId } {
  const from = partition * PARTITION_BATCHES;
  return { from: toBatchId(from), before: toBatchId(from + PARTITION_BATCHES) };
}

/**
 * What the id of a message adds to that of its application: nothing for the registration's message, the next two for
 * the messages after an approval and after a rejection, the last one for the reminder (D40; `application_of_message` in
 * `sql/functions/messages/ids.sql`).
 */
const MESSAGE_OFFSETS = [0n, 2n ** 53n, 2n ** 54n, 2n ** 55n] as const;
const APPLICATION_BITS = 53;
/** Numbers of so many digits are below 2^53. */
const EXACT_DIGITS = 15;

/** The least id that a message of a batch may have. */
export function firstMessageOf(batch: BatchId): MessageId {
  return toMessageId(`${BigInt(batch) * BigInt(POSITIONS_A_BATCH)}`);
}

/** The ranges of the ids of messages, those of the latest message of an application first: `from` <= id < `before`. */
export const MESSAGE_ID_RANGES = MESSAGE_OFFSETS.map((offset) => ({
  from: `${offset}`,
  before: `${offset + 2n ** 53n}`,
})).toReversed();

/** Makes an id from the decimal text of a bigint column. */
export function toMessageId(value: string): MessageId {
  return value as MessageId;
}

/** The ids that messages of an application may have, oldest first; the first is that of the registration's message. */
export function messageIdsOf(application: ApplicationId): readonly [MessageId, ...MessageId[]] {
  const [first, ...later] = MESSAGE_OFFSETS.map((offset) => toMessageId(`${BigInt(application) + offset}`));
  return [first!, ...later];
}

/** The id that the reminder of an application has. */
export function reminderOf(application: ApplicationId): MessageId {
  return messageIdsOf(application)[3]!;
}

/** The application of a message. */
export function applicationOfMessage(message: MessageId): ApplicationId {
  // Nearly all messages are of registrations: their ids are numbers, and those need no BigInt.
  const isExact = message.length <= EXACT_DIGITS;
  return toApplicationId(
    isExact ? Number(message) : Number(BigInt.asUintN(APPLICATION_BITS, BigInt(message))),
  );
}
