/** One batch on its way, whoever cut it. */
import type { Element } from './batches.ts';
import { pair } from './pairing.ts';
import { readBatch } from './read-answer.ts';
import { type Connection, type Patience, request } from './request.ts';
import type { Outcome } from './wire.ts';

/** Elements that an `OpenBatch` took, and their body. */
export interface BatchToSend {
  readonly elements: readonly Element[];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string;
}

/** What became of each element, in order. Throws a `VentanillaError` where nobody knows, or the service refused. */
export function sendBatch(
  connection: Connection,
  { elements, body, idempotencyKey }: BatchToSend,
  patience: Patience,
): Promise<Outcome[]> {
  const echoes = elements.map(({ echo }) => echo);
  const read = (answer: unknown) => pair(echoes, readBatch(answer));
  return request(connection, { post: { body, idempotencyKey }, read }, patience);
}
