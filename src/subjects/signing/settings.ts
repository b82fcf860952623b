/** The variables that only the signing of contracts reads (docs/signing.md and docs/deploy.md explain them). */
import { resolve } from 'node:path';
import { isLoopback } from '../../ground/base/loopback.ts';
import type { Setting } from '../../ground/base/setting.ts';

/** Where the terms come from. */
export type TermsSource = { readonly path: string } | 'demonstration' | 'none';

/**
 * TERMS_FILE. Without it the embedded store has the terms of the demo, and the operator's own database has no terms.
 */
export const TERMS_FILE: Setting<TermsSource> = {
  variable: 'TERMS_FILE',
  read: (text, { ownDatabase }) =>
    text !== undefined ? { path: resolve(text) } : ownDatabase ? 'none' : 'demonstration',
};

/** Which certificate seals: the one in a file, the demonstration's own one under DATA_DIR, or none. */
export type CertificateSource = { readonly path: string } | { readonly dataDir: string } | null;

/** SIGNING_CERTIFICATE_FILE, with its chain in PEM. Without it the embedded store makes one that nobody trusts. */
export const SIGNING_CERTIFICATE_FILE: Setting<CertificateSource> = {
  variable: 'SIGNING_CERTIFICATE_FILE',
  read: (text, { ownDatabase, dataDir }) =>
    text !== undefined ? { path: resolve(text) } : ownDatabase ? null : { dataDir },
};

/** SIGNING_KEY_FILE, the certificate's key in PEM; absolute, or null. */
export const SIGNING_KEY_FILE: Setting<string | null> = {
  variable: 'SIGNING_KEY_FILE',
  read: (text) => (text === undefined ? null : resolve(text)),
};

/** TSA_URL, an authority for time stamps (RFC 3161); null: seals have no time stamp. */
export const TSA_URL: Setting<string | null> = {
  variable: 'TSA_URL',
  read: (text) => (text === undefined ? null : readUrl(text)),
};

const CODE_WAYS = ['sms', 'channel', 'simulator', 'none'] as const;

/**
 * CODE_WAY: how codes go out. The embedded store shows them on the second phone of the simulator. Otherwise the default
 * is none: a code into the same chat is no second way, so the operator has to choose it.
 */
export const CODE_WAY: Setting<(typeof CODE_WAYS)[number]> = {
  variable: 'CODE_WAY',
  read: (text, { ownDatabase }) => {
    const way = CODE_WAYS.find((one) => one === (text ?? (ownDatabase ? 'none' : 'simulator')));
    if (way === undefined) throw new RangeError(`must be one of: ${CODE_WAYS.join(', ')}`);
    return way;
  },
};

/**
 * CODES_AN_HOUR: the most codes to the phones of one country in an hour. Each code costs money, and the owner of
 * premium-rate numbers may ask for many.
 */
export const CODES_AN_HOUR: Setting<number> = {
  variable: 'CODES_AN_HOUR',
  read: (text = '1000') => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new RangeError('must be a whole number from 1 to 999999');
    return Number(text);
  },
};

/** CODE_TEMPLATE, the channel's authentication template. */
export const CODE_TEMPLATE: Setting<string> = {
  variable: 'CODE_TEMPLATE',
  read: (text = 'ventanilla_code') => {
    if (!/^[a-z0-9_]{1,512}$/.test(text)) {
      throw new RangeError("must be a template's name, 1 to 512 lower-case letters, digits or _");
    }
    return text;
  },
};

/** SMS_API_URL, the address of Twilio's API or of one that speaks like it, without a slash at the end. */
export const SMS_API_URL: Setting<string> = {
  variable: 'SMS_API_URL',
  read: (text = 'https://api.twilio.com') => {
    const { protocol, hostname } = new URL(readUrl(text));
    // Every request carries the token.
    if (protocol !== 'https:' && !isLoopback(hostname)) {
      throw new RangeError('must begin with https:// (http:// is allowed on this machine only)');
    }
    return text.replace(/\/$/, '');
  },
};

/** SMS_ACCOUNT_SID, the account that sends. */
export const SMS_ACCOUNT_SID: Setting<string | null> = {
  variable: 'SMS_ACCOUNT_SID',
  read: (text) => {
    if (text !== undefined && !/^[A-Za-z0-9]{1,64}$/.test(text))
      throw new RangeError('must be letters and digits');
    return text ?? null;
  },
};

/** SMS_AUTH_TOKEN, a secret. */
export const SMS_AUTH_TOKEN: Setting<string | null> = {
  variable: 'SMS_AUTH_TOKEN',
  read: (text) => text ?? null,
};

/** SMS_FROM: a phone, a sender's name, or a messaging service (`MG…`). */
export const SMS_FROM: Setting<string | null> = {
  variable: 'SMS_FROM',
  read: (text) => text ?? null,
};

const LEAST_YEARS = 5;

/** CONTRACT_YEARS: how long signed contracts stay. */
export const CONTRACT_YEARS: Setting<number> = {
  variable: 'CONTRACT_YEARS',
  read: (text = '10') => {
    if (!/^\d{1,2}$/.test(text) || Number(text) < LEAST_YEARS) {
      throw new RangeError(`must be a whole number of years from ${LEAST_YEARS} to 99`);
    }
    return Number(text);
  },
};

function readUrl(text: string): string {
  if (!/^https?:\/\/[^/\s@]+(\/\S*)?$/.test(text) || !URL.canParse(text)) {
    throw new RangeError('must begin with https:// or http:// and hold no password');
  }
  return text;
}
