/** One request with its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request under way with its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The application reads the body. */
  wanted: boolean;
  answered: boolean;
}

/** The length of the body by its head; Infinity for chunks. */
export function lengthOfBody({ headers }: IncomingMessage): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY;
}
