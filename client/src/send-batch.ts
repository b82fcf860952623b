/** One batch on its way, whoever cut it. */
import { pair } from './pairing.ts';
import { readBatch } from './read-answer.ts';
import { type Endpoint, type Patience, request } from './request.ts';
import type { Outcome } from './wire.ts';

/** What an `OpenBatch` took, as it is sent. */
export interface BatchToSend {
  /** Of each application, in order: what the service echoes of it. */
  readonly echoes: readonly (string | null)[];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string;
}

/** What became of each application, in order. Throws a `VentanillaError` where nobody knows, or the service refused. */
export function sendBatch(
  endpoint: Endpoint,
  { echoes, body, idempotencyKey }: BatchToSend,
  patience: Patience,
): Promise<Outcome[]> {
  const read = (answer: unknown) => pair(echoes, readBatch(answer));
  return request(endpoint, { post: { body, idempotencyKey }, read }, patience);
}
