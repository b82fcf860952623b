/** What a log line may say of an error: what, where, and nothing that a row holds. */
import { InDoubtError, UnavailableError } from './registration-failure.ts';

const OUR_FRAMES = /\/(src\/[\w./-]+\.[jt]s:\d+)/g;
const MAX_FRAMES = 8;
const FUNCTION = /PL\/pgSQL function (\w+)/;

/**
 * The error's kind, its code (SQLSTATE or Node's), the places in this program, innermost first, and of the database's
 * errors table, constraint and function. Not the message, which may repeat a value, but where it is a text of our own.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error };
  const { table, constraint, where } = error as { table?: string; constraint?: string; where?: string };
  const fields = {
    kind: error.name,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    message: error instanceof UnavailableError || error instanceof InDoubtError ? error.message : undefined,
    at: framesOf(error),
    table,
    constraint,
    function: FUNCTION.exec(where ?? '')?.[1],
    cause: error.cause === undefined ? undefined : errorFields(error.cause),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function framesOf(error: Error): string | undefined {
  const frames = [...(error.stack ?? '').matchAll(OUR_FRAMES)].map(([, frame]) => frame);
  return frames.length === 0 ? undefined : frames.slice(0, MAX_FRAMES).join(' < ');
}
