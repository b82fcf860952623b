/** Waits for a database that is not up yet, for example because it is started together with the service. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../domain/describe-error.ts';
import { errorCode } from '../domain/error-code.ts';
import { isPassingTrouble } from '../domain/store-trouble.ts';
import { type Database, SetupError } from './database.ts';

const WAIT_MS = 60_000;
const POLL_MS = 500;

export interface AwaitOptions {
  /** Ends the wait: the returned promise rejects. */
  readonly signal: AbortSignal;
  /** Called once, at the first failure, with the reason for the wait. */
  readonly notice: (text: string) => void;
  readonly withinMs?: number;
}

/**
 * Resolves when the server of `DATABASE_URL` answers. Throws `SetupError` at once if waiting cannot help, for example
 * after a wrong password, and after 60 s without an answer; the error names DATABASE_URL and never shows its value.
 */
export async function awaitServer(
  database: Database,
  { signal, notice, withinMs = WAIT_MS }: AwaitOptions,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  const reasonOf = (error: unknown) => whyNot(error, database.options.connectionString ?? '');
  for (let told = false; ; ) {
    const error = await failureOf(database);
    if (error === null) return;
    // The checks of a session give their own error.
    if (error instanceof SetupError) throw error;
    if (!isPassing(error)) throw new SetupError(`DATABASE_URL cannot be used: ${reasonOf(error)}`);
    if (performance.now() >= deadline) {
      const seconds = Math.round(withinMs / 1_000);
      throw new SetupError(
        `DATABASE_URL: the database did not answer within ${seconds} s: ${reasonOf(error)}`,
      );
    }
    if (!told) notice(`waiting for the database of DATABASE_URL: ${reasonOf(error)}`);
    told = true;
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function failureOf(database: Database): Promise<unknown> {
  try {
    await database.query('SELECT 1');
    return null;
  } catch (error) {
    return error ?? new Error('unknown');
  }
}

function isPassing(error: unknown): boolean {
  // The socket of a server on this machine does not exist before the server runs.
  return isPassingTrouble(error) || errorCode(error) === 'ENOENT';
}

const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'the server refuses the user or the password',
  '28000': 'the server refuses the user, or a connection of this kind',
  '3D000': 'the server has no such database',
  '42501': 'the user may not connect to this database',
  '57P03': 'the server is starting up, or shutting down',
  '53300': 'the server has too many connections',
  '08001': 'no server that it names is the primary or takes writes',
  '42601': 'the server cannot read the options that the URL asks for',
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host could not be looked up',
};

/** The checks of a certificate by OpenSSL and by Node have many codes, of which these are the common ones. */
const CERTIFICATE_REASONS: readonly (readonly [codes: RegExp, text: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_SIGNATURE_FAILURE$|^CERT_UNTRUSTED$/,
    'the certificate of the server is not trusted: name the file of its authority in sslrootcert',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'the certificate of the server is for another host'],
  [/^CERT_HAS_EXPIRED$/, 'the certificate of the server has expired'],
];

/** Why a server refuses a setting of the URL. */
const SETTING_REASONS: Readonly<Record<string, (setting: string) => string>> = {
  '42704': (setting) => `the server does not know ${setting}`,
  '22023': (setting) => `the server refuses the value of ${setting}`,
  '25001': (setting) => `${setting} cannot be set for a session`,
  '55P02': (setting) => `${setting} cannot be set for a session`,
};
const MAY_NOT_SET = (setting: string) => `the user may not set ${setting}`;

/**
 * The server's own text may quote the user, the database or a value, so an error with a code is described without it.
 */
function whyNot(error: unknown, url: string): string {
  const code = errorCode(error);
  if (code === undefined) return describeError(error);
  const name = settingIn(describeError(error), url);
  const ofSetting = SETTING_REASONS[code] ?? (code === '42501' && name !== null ? MAY_NOT_SET : undefined);
  const text =
    ofSetting === undefined
      ? (REASONS[code] ?? CERTIFICATE_REASONS.find(([codes]) => codes.test(code))?.[1])
      : ofSetting(
          name === null ? 'a setting that the URL asks for' : `the setting ${name} that the URL asks for`,
        );
  return text === undefined ? code : `${text} (${code})`;
}

/** The first word of the server's text, in whatever language, that is a parameter of the URL. */
function settingIn(text: string, url: string): string | null {
  const asked = parameters(url).toLowerCase();
  const names = new Set([...asked.matchAll(/([\w.]+)=/g)].map(([, name]) => name));
  return text.match(/[\w.]+/g)?.find((word) => names.has(word.toLowerCase())) ?? null;
}

function parameters(url: string): string {
  const text = /\?(.*)/.exec(url)?.[1] ?? '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
