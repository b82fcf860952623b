/** Applications as the client takes them, and what the service has of them. */
import type { Application, Outcome } from '../../client/src/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { anApplication } from '../support/service.ts';

/** A valid application with an ID number and a phone of its own. */
export function anInput(changes: Record<string, unknown> = {}): Application {
  return anApplication(changes) as unknown as Application;
}

/** As many, all different. */
export function inputs(count: number, changes: Record<string, unknown> = {}): Application[] {
  return Array.from({ length: count }, () => anInput(changes));
}

/** How many applications of a partner are stored. */
export async function stored(database: Database, partnerId: number): Promise<number> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS count FROM applications WHERE partner_id = $1',
    [partnerId],
  );
  return rows[0].count;
}

/** The outcomes without what only the service can know, in short: kind and echoed ID number. */
export function brief(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ kind, idNumber }) => `${kind} ${idNumber}`);
}

/** What a promise rejects with; fails where it does not. */
export async function rejection<T>(type: new (...args: never[]) => T, promise: Promise<unknown>): Promise<T> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof type)) throw new Error(`rejected with ${error}, not ${type.name}`);
  return error;
}
