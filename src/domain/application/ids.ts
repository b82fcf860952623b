/**
 * Ids of batches and applications, and the type of blind indexes. The id of an application tells its batch and its position there: the batch's id times
 * 128, plus the position (docs/decisions/0006). Pure.
 */

declare const APPLICATION: unique symbol;
declare const BATCH: unique symbol;
declare const KIND: unique symbol;

/** The id of an application, as partners and operators see it: a whole number from 1 on. */
export type ApplicationId = number & { readonly [APPLICATION]: true };

/** The id of a stored batch: the decimal text of a bigint. */
export type BatchId = string & { readonly [BATCH]: true };

/** What is searched by a keyed hash of it. */
export type BlindIndexKind = 'phone' | 'id_number' | 'channel_message_id';

/** A keyed hash as 16 hex digits, made by the storage layer alone; the kinds cannot be mixed up. */
export type BlindIndex<Kind extends BlindIndexKind> = string & { readonly [KIND]: Kind };

const POSITIONS_A_BATCH = 128;

/** From a number that was checked, or from the decimal text of a bigint column. */
export function toApplicationId(value: number | string): ApplicationId {
  return Number(value) as ApplicationId;
}

/** From a bigint column. */
export function toBatchId(value: number | string): BatchId {
  return String(value) as BatchId;
}

/** The id of the application at a position of a batch. */
export function applicationIdAt(batch: BatchId, position: number): ApplicationId {
  return toApplicationId(Number(batch) * POSITIONS_A_BATCH + position);
}

/** The inverse of `applicationIdAt`. */
export function placeOf(application: ApplicationId): { batchId: BatchId; position: number } {
  const position = application % POSITIONS_A_BATCH;
  return { batchId: toBatchId((application - position) / POSITIONS_A_BATCH), position };
}
