/**
 * Describes an error: a sentence for people, and the fields that a line of the log may show. The fields hold no
 * personal data, because they never hold the value of a row (SECURITY.md). Pure.
 */
import { InDoubtError, UnavailableError } from './registration-failure.ts';

/** The message of an error; for an `AggregateError` without a message, the messages of its parts. */
export function describeError(error: unknown): string {
  // Node tries every address of a host. If all fail, only the parts of the error have messages.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}

/** The code that Node or a driver gave an error; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

const OUR_FRAMES = /\/(src\/[\w./-]{1,200}\.[jt]s:\d+)/g;
const MAX_FRAMES = 8;
/** In each language of PostgreSQL the name comes after this word, with its parameters. */
const FUNCTION = /PL\/pgSQL[^\n(]{0,40}?\b(\w{1,63})\(/;

/**
 * The error's kind, its code (SQLSTATE or Node's) and the places in this program, innermost first. For an error of the
 * database also the table, constraint and function. The message only if this program wrote it, because another message
 * may repeat a value.
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
