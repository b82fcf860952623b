/**
 * Waits at a start for a database that is not up yet, and says in plain words why a server cannot be reached. Opens
 * connections; writes nothing. ARCHITECTURE, "A process's life", and D37 have the rule.
 */
import { describeError, errorCode } from '../base/describe-error.ts';
import type { Database } from './database.ts';
import type { Patience } from './patience.ts';
import { SetupError } from './setup-error.ts';

/**
 * Resolves when the server of `variable` answers. Throws `SetupError` at once if waiting cannot help, for example after
 * a wrong password, and after a minute without an answer; the error never shows the value of the variable.
 */
export async function awaitServer(
  database: Database,
  patience: Patience,
  variable = 'DATABASE_URL',
): Promise<void> {
  try {
    await patience.run(() => database.query('SELECT 1'));
  } catch (error) {
    // The checks of a session give their own error.
    if (error instanceof SetupError || (error as Error)?.name === 'AbortError') throw error;
    const reason = whyNot(error, database.options.connectionString ?? '');
    throw new SetupError(`${variable} cannot be used: ${reason}`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'the server refuses the user or the password',
  '28000': 'the server refuses the user, or a connection of this kind',
  '3D000': 'the server has no such database',
  '42501': 'the user may not connect to this database',
  '42601': 'the server cannot read the options that the URL asks for',
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
