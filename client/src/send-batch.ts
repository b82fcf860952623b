/** Sends one batch. `ventanilla submit` uses this too, with batches that it cuts itself. */
import { pair } from './pairing.ts';
import { readBatch } from './read-answer.ts';
import { type Endpoint, type Patience, request } from './request.ts';
import type { Outcome } from './wire.ts';

/** The content of one request. */
export interface BatchToSend {
  /** The ID number that the service echoes, for each application in order. */
  readonly echoes: readonly (string | null)[];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string;
}

/** Resolves to the outcome of each application, in order. Throws a `VentanillaError` where there is none. */
export function sendBatch(
  endpoint: Endpoint,
  { echoes, body, idempotencyKey }: BatchToSend,
  patience: Patience,
): Promise<Outcome[]> {
  const read = (answer: unknown) => pair(echoes, readBatch(answer));
  return request(endpoint, { post: { body, idempotencyKey }, read }, patience);
}
