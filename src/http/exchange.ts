/** One request with its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the body, as far as the head tells; Infinity where it comes in chunks. */
  bodyLeft: number;
  /** Somebody reads the body. */
  wanted: boolean;
  answered: boolean;
}

/** How long the body is that a head announces; Infinity where it comes in chunks. */
export function lengthOfBody({ headers }: IncomingMessage): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY;
}
