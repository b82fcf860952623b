/** Inputs for the client, and counts of what the service stored. */
import type { Application, Outcome, Retry } from '../../client/src/index.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { anApplication } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';

/** A valid application with a unique ID number and phone. */
export function anInput(changes: Record<string, unknown> = {}): Application {
  return anApplication(changes) as unknown as Application;
}

/** So many applications, all different. */
export function inputs(count: number, changes: Record<string, unknown> = {}): Application[] {
  return Array.from({ length: count }, () => anInput(changes));
}

/** The number of stored applications of a partner. */
export async function stored(database: Database, partnerId: PartnerId): Promise<number> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS count FROM applications WHERE partner_id = $1',
    [partnerId],
  );
  return rows[0].count;
}

/** The outcomes in short: kind and echoed ID number. */
export function brief(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ kind, idNumber }) => `${kind} ${idNumber}`);
}

/**
 * Time that passes for a client by itself: `onRetry` passes each wait for another attempt, and `inVain`, which the peer
 * calls, the whole of an attempt that gets no answer.
 */
export function passingTime(timeoutMs: number) {
  const clock = new TestClock();
  return {
    options: { clock, timeoutMs },
    onRetry: ({ delayMs }: Retry) => void clock.advance(delayMs),
    inVain: () => void clock.advance(timeoutMs),
  };
}

/** The error that a promise rejects with. Fails where the promise resolves. */
export async function rejection<T>(type: new (...args: never[]) => T, promise: Promise<unknown>): Promise<T> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof type)) throw new Error(`rejected with ${error}, not ${type.name}`);
  return error;
}
