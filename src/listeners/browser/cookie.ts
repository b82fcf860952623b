/**
 * Names, writes and reads the cookies of a browser: its session, its sign-in under way at the identity provider, and
 * the mark of a browser that knows who signs in there (docs/operators.md). Pure.
 */
import type { Whose } from '../../domain/operator/session.ts';

/** Whose page a browser has open, and under which origin. */
export interface Site {
  readonly whose: Whose;
  readonly origin: string;
}

/** What a cookie holds. */
export type CookieOf = 'session' | 'pending sign-in' | 'device';

/** Browsers send the cookies of a host to all its ports, so those of the two listeners have names of their own. */
const NAMES: Readonly<Record<Whose, string>> = { operator: 'ventanilla', partner: 'ventanilla-portal' };
const ENDS: Readonly<Record<CookieOf, string>> = {
  session: '',
  'pending sign-in': '-oidc',
  device: '-device',
};
/** In seconds. The service itself ends these after the same time. A session's cookie ends with the browser. */
const MAX_AGES: Readonly<Partial<Record<CookieOf, number>>> = { 'pending sign-in': 600, device: 7_776_000 };

/** The cookie's name. A browser takes a `__Host-` cookie only over https, without a domain and for all paths. */
export function cookieName(of: CookieOf, { whose, origin }: Site): string {
  return `${isSecure(origin) ? '__Host-' : ''}${NAMES[whose]}${ENDS[of]}`;
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}

/**
 * The header that sets a cookie; the empty value removes it. With `Lax` the browser also sends it at the provider's
 * redirect.
 */
export function cookieHeader(of: CookieOf, value: string, site: Site): string {
  const parts = [`${cookieName(of, site)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(site.origin)) parts.push('Secure');
  const maxAge = value === '' ? 0 : MAX_AGES[of];
  if (maxAge !== undefined) parts.push(`Max-Age=${maxAge}`);
  return parts.join('; ');
}

/**
 * The value of a cookie in a request; null if there is none, or if there are two, because then somebody has planted
 * one.
 */
export function cookieOf(of: CookieOf, header: string | undefined, site: Site): string | null {
  const name = cookieName(of, site);
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0]! : null;
}
