/** The cookies of a browser: its session, and its sign-in under way at the identity provider. */

/** What a cookie holds. */
export type CookieOf = 'session' | 'pending sign-in';

const NAMES: Readonly<Record<CookieOf, string>> = {
  session: 'ventanilla',
  'pending sign-in': 'ventanilla-oidc',
};
/** The store ends a sign-in under way too. A session's cookie ends with the browser. */
const PENDING_MAX_AGE = 'Max-Age=600';

/** The cookie's name. A browser takes a `__Host-` cookie only over https, without a domain and for all paths. */
export function cookieName(of: CookieOf, origin: string): string {
  return `${isSecure(origin) ? '__Host-' : ''}${NAMES[of]}`;
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}

/** The header that sets a cookie; the empty value takes it away. `Lax` lets the provider's redirect bring it. */
export function cookieHeader(of: CookieOf, value: string, origin: string): string {
  const parts = [`${cookieName(of, origin)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(origin)) parts.push('Secure');
  if (value === '') parts.push('Max-Age=0');
  else if (of === 'pending sign-in') parts.push(PENDING_MAX_AGE);
  return parts.join('; ');
}

/** The value of a cookie in a request; null where there is none, or where there are two: one of them is planted. */
export function cookieOf(of: CookieOf, header: string | undefined, origin: string): string | null {
  const name = cookieName(of, origin);
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0]! : null;
}
