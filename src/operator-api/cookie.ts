/** The cookie of a browser's session. */

/** The cookie's name. A browser takes a `__Host-` cookie only over https, without a domain and for all paths. */
export function cookieName(origin: string): string {
  return isSecure(origin) ? '__Host-ventanilla' : 'ventanilla';
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}

/** The header that sets the cookie for the browser's session; the empty value takes it away. */
export function cookieHeader(value: string, origin: string): string {
  const parts = [`${cookieName(origin)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(origin)) parts.push('Secure');
  if (value === '') parts.push('Max-Age=0');
  return parts.join('; ');
}

/** The value of the cookie in a request; null where there is none, or where there are two: one of them is planted. */
export function cookieOf(header: string | undefined, origin: string): string | null {
  const name = cookieName(origin);
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0]! : null;
}
