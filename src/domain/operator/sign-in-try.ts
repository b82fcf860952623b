/** What is counted about attempts to sign in, and how the record names where one came from (docs/audit.md). Pure. */
import ipaddr from 'ipaddr.js';

/** The first factor here, the second factor, both again, the identity provider, and the link that an operator gave. */
export const SIGN_IN_STEPS = ['password', 'code', 'again', 'provider', 'link'] as const;
/** `locked_out`: nobody looks at the try, because there were too many. */
export const SIGN_IN_RESULTS = ['done', 'refused', 'locked_out'] as const;

export type SignInStep = (typeof SIGN_IN_STEPS)[number];
export type SignInResult = (typeof SIGN_IN_RESULTS)[number];

/** Hears of each try. */
export type OnTry = (step: SignInStep, result: SignInResult) => void;

const KEPT_BITS = { ipv4: 24, ipv6: 48 } as const;

/**
 * The network of an address, for the record, which stays for ever: it tells an office from a stranger and one attack
 * from another, but does not show which home or person of the network it was. `unknown` if the text is not an address.
 */
export function sourceOf(address: string): string {
  // A group of IPv6 addresses is the first half of one (`addressGroup`).
  const text = isAddress(address) ? address : `${address}::`;
  if (address === '' || !isAddress(text)) return 'unknown';
  const parsed = ipaddr.process(text);
  const bits = KEPT_BITS[parsed.kind()];
  const kind = parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${kind.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
}

/** The library reads `1` as an address too. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}
