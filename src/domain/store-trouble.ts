/** What keeps the store from working for now, told by the code of a failure: nothing is wrong with the request. */

const TROUBLES: readonly (readonly [codes: RegExp, text: string])[] = [
  [/^53100$|^ENOSPC$/, 'the disk of the database is full: nothing can be stored until there is room'],
  [/^25006$/, 'the database is read-only: nothing can be stored until it takes writes again'],
  [/^53...$/, 'the database is short of memory or connections'],
  [/^58030$/, 'the database cannot read or write its files'],
  [/^57P..$/, 'the database is starting or stopping'],
  [/^08...$|^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/, 'the database cannot be reached'],
];

/** What the database's driver says, without a code, of a server that is gone or silent. */
const UNREACHABLE = /^(Connection terminated|timeout exceeded when trying to connect$|Query read timeout$)/;

/** A sentence for the log where a failure, or what caused it, is of that kind; null otherwise. */
export function storeTrouble(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  const known = code === '' && UNREACHABLE.test(error.message) ? '08006' : code;
  const found = TROUBLES.find(([codes]) => codes.test(known));
  return found === undefined ? storeTrouble(error.cause) : found[1];
}
