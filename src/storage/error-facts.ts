/** What a log line may say of an error: what, where, and nothing that a row holds. */
import { errorCode } from './database.ts';

const OUR_FRAME = /\/(src\/[\w./-]+\.[jt]s:\d+)/;
const FUNCTION = /PL\/pgSQL function (\w+)/;

/**
 * The error's kind, its code (SQLSTATE or Node's), the place in this program, and of the database's errors table,
 * constraint and function. Not the message: it may repeat a value.
 */
export function errorFacts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error };
  const { table, constraint, where } = error as { table?: string; constraint?: string; where?: string };
  const facts = {
    kind: error.name,
    code: errorCode(error),
    at: OUR_FRAME.exec(error.stack ?? '')?.[1],
    table,
    constraint,
    function: FUNCTION.exec(where ?? '')?.[1],
    cause: error.cause === undefined ? undefined : errorFacts(error.cause),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
