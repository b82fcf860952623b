/**
 * The variables of the operators' console, of the partners' portal and of the sign-in there, and the addresses of both
 * (docs/operators.md and docs/portal.md have the tables). Reads no network and no disk.
 */
import { isIP } from 'node:net';
import { isLoopback } from '../../ground/base/loopback.ts';
import { type ReadSetting, readPort, type Setting } from '../../ground/base/setting.ts';
import { ToldError } from '../../ground/base/told-error.ts';

/** CONSOLE_PORT; null: it is not set, and only the embedded store has a console, at `NEXT_PORT`. */
export const CONSOLE_PORT: Setting<number | null> = {
  variable: 'CONSOLE_PORT',
  read: (text) => (text === undefined ? null : readPort(text)),
};

const LAST_PORT = 65_535;

/** The port after OPS_PORT: the embedded store has its console there if CONSOLE_PORT is not set. 0: any free port. */
export const NEXT_PORT: Setting<number> = {
  variable: 'OPS_PORT',
  read: (text = '8081') => {
    const port = readPort(text);
    return port === 0 || port === LAST_PORT ? 0 : port + 1;
  },
};

/** The folder of the data. */
export const DATA_DIR: Setting<string> = { variable: 'DATA_DIR', read: (_text, { dataDir }) => dataDir };

/** CONSOLE_HOST. */
export const CONSOLE_HOST: Setting<string> = {
  variable: 'CONSOLE_HOST',
  read: (text = '127.0.0.1') => text,
};

/**
 * An origin under which browsers reach a page; null: this machine's own. What a request says about its host never takes
 * its place.
 */
const readOrigin = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.origin !== text.replace(/\/$/, '') || !isSafe(url)) {
    throw new RangeError(
      'must be an origin such as https://desk.example.com; http:// is for this machine alone',
    );
  }
  return url.origin;
};

/** CONSOLE_URL, the origin of the console. */
export const CONSOLE_URL: Setting<string | null> = { variable: 'CONSOLE_URL', read: readOrigin };

/**
 * Whether a text is an address, or a network such as `fd00::/8`. The program's help reads this file, so it loads no
 * package for the check.
 */
function isNetwork(text: string): boolean {
  const [, address = text, bits = '0'] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** The addresses and networks of the proxies that may tell the browser's address. */
const readProxies = (text = ''): readonly string[] => {
  const proxies = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (!proxies.every(isNetwork)) {
    throw new RangeError('must be addresses or networks joined by commas, such as 10.0.0.7, fd00::/8');
  }
  return proxies;
};

/** CONSOLE_TRUSTED_PROXIES. */
export const CONSOLE_TRUSTED_PROXIES: Setting<readonly string[]> = {
  variable: 'CONSOLE_TRUSTED_PROXIES',
  read: readProxies,
};

/** PORTAL_PORT; null: there is no portal for partners. */
export const PORTAL_PORT: Setting<number | null> = {
  variable: 'PORTAL_PORT',
  read: (text) => (text === undefined ? null : readPort(text)),
};

/** PORTAL_HOST. */
export const PORTAL_HOST: Setting<string> = {
  variable: 'PORTAL_HOST',
  read: (text = '127.0.0.1') => text,
};

/** PORTAL_URL, the origin of the portal. */
export const PORTAL_URL: Setting<string | null> = { variable: 'PORTAL_URL', read: readOrigin };

/** PORTAL_TRUSTED_PROXIES. */
export const PORTAL_TRUSTED_PROXIES: Setting<readonly string[]> = {
  variable: 'PORTAL_TRUSTED_PROXIES',
  read: readProxies,
};

/** OIDC_ISSUER, the identity provider where operators may sign in; null: they sign in here alone. */
export const OIDC_ISSUER: Setting<URL | null> = {
  variable: 'OIDC_ISSUER',
  read: (text) => {
    if (text === undefined) return null;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !isSafe(url) || url.search !== '' || url.hash !== '' || url.username !== '') {
      throw new RangeError(
        'must be the URL of an issuer, such as https://login.example.com; http:// is for this machine alone',
      );
    }
    return url;
  },
};

/** OIDC_CLIENT_ID: what the identity provider calls this installation. */
export const OIDC_CLIENT_ID: Setting<string | null> = {
  variable: 'OIDC_CLIENT_ID',
  read: (text) => text ?? null,
};

/** OIDC_CLIENT_SECRET; null: a public client, which PKCE alone protects. */
export const OIDC_CLIENT_SECRET: Setting<string | null> = {
  variable: 'OIDC_CLIENT_SECRET',
  read: (text) => text ?? null,
};

/** A claim by which the identity provider says that it asked for a second factor: the class, or one of the methods. */
export interface SecondFactorClaim {
  readonly claim: 'acr' | 'amr';
  readonly value: string;
}

/** OIDC_SECOND_FACTOR: any of these claims counts. Without claims the console always asks for a code of the app. */
export const OIDC_SECOND_FACTOR: Setting<readonly SecondFactorClaim[]> = {
  variable: 'OIDC_SECOND_FACTOR',
  read: (text = '') =>
    text
      .split(',')
      .filter((part) => part.trim() !== '')
      .map((part) => {
        const [, claim, value] = /^\s*(acr|amr):(\S+)\s*$/.exec(part) ?? [];
        if (claim === undefined || value === undefined) {
          throw new RangeError('must be claims joined by commas, such as amr:mfa or acr:urn:example:gold');
        }
        return { claim: claim as SecondFactorClaim['claim'], value };
      }),
};

/** How to sign in by OpenID Connect. */
export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly secondFactor: readonly SecondFactorClaim[];
}

/** The settings of OpenID Connect; null: it is not offered. Throws `ToldError` if a part is missing. */
export function oidcConfig(setting: ReadSetting): OidcConfig | null {
  const [issuer, clientId] = [setting(OIDC_ISSUER), setting(OIDC_CLIENT_ID)];
  const [clientSecret, secondFactor] = [setting(OIDC_CLIENT_SECRET), setting(OIDC_SECOND_FACTOR)];
  if (issuer !== null && clientId !== null) return { issuer, clientId, clientSecret, secondFactor };
  if (issuer !== null) throw new ToldError('OIDC_CLIENT_ID is required with OIDC_ISSUER');
  if (clientId !== null || clientSecret !== null || secondFactor.length > 0) {
    throw new ToldError('OIDC_ISSUER is required with the other variables of OIDC');
  }
  return null;
}

/** Whether a session's cookie crosses no network that others can read. */
function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * The origin of the console at the open port `port`. `localhost` stands for this machine, because a browser's passkeys
 * and cookies need a name.
 */
export function consoleOrigin(
  setting: ReadSetting,
  port = setting(CONSOLE_PORT) ?? setting(NEXT_PORT),
): string {
  return setting(CONSOLE_URL) ?? `http://localhost:${port}`;
}

/** Where a portal is whose port nobody has named, as the documentation has it. */
const USUAL_PORTAL_PORT = 8083;

/** The origin of the portal at the open port `port`. */
export function portalOrigin(setting: ReadSetting, port = setting(PORTAL_PORT) ?? USUAL_PORTAL_PORT): string {
  return setting(PORTAL_URL) ?? `http://localhost:${port}`;
}

/** Whether this process knows where the portal is, as `knowsConsole` of the console. */
export function knowsPortal(setting: ReadSetting): boolean {
  return setting(PORTAL_PORT) !== null || setting(PORTAL_URL) !== null;
}

/**
 * Whether this process knows where the console is. A command may run without the variables of the service. Without them
 * the service may also have taken any free port, because the usual one was in use.
 */
export function knowsConsole(setting: ReadSetting): boolean {
  return setting(CONSOLE_PORT) !== null || setting(CONSOLE_URL) !== null;
}

/**
 * The address at which an operator sets the factors, with the token of the link. The token stands behind `#`, which no
 * server gets: the log of a proxy would keep it.
 */
export function enrolmentLink(origin: string, token: string): string {
  return `${origin}/#token=${token}`;
}
