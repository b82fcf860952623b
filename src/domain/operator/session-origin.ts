/**
 * Where and with what a session began, for whoever looks for one that is not theirs (docs/operators.md, "The operator
 * API"): the network of an address, and browser and system in words of a closed list, so that nothing that a client
 * sends is stored or shown. Pure.
 */
import { sourceOf } from './sign-in-try.ts';

/** null: not known. */
export interface SessionOrigin {
  /** Of IPv4 a /24, of IPv6 a /48. */
  readonly network: string | null;
  /** Such as `Firefox, Linux`. */
  readonly browser: string | null;
}

/** The first that fits counts: a browser claims to be its ancestors too. */
const BROWSERS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPiOS|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|Chromium|CriOS)\//],
  ['Safari', /\bSafari\//],
];
const SYSTEMS: typeof BROWSERS = [
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];
/** Browsers send about 150 characters. */
const MOST_READ = 500;

/** Browser and system of a `User-Agent`. */
export function browserOf(userAgent: string | undefined): string | null {
  const text = (userAgent ?? '').slice(0, MOST_READ);
  const names = [BROWSERS, SYSTEMS].flatMap((list) => list.find(([, mark]) => mark.test(text))?.[0] ?? []);
  return names.length === 0 ? null : names.join(', ');
}

/** The origin of a request: `address` as the listener tells it. */
export function originOf({
  address,
  browser,
}: {
  readonly address: string;
  readonly browser: string | null;
}): SessionOrigin {
  const network = sourceOf(address);
  return { network: network === 'unknown' ? null : network, browser };
}

const NAMES: ReadonlySet<string> = new Set([...BROWSERS, ...SYSTEMS].map(([name]) => name));
const NETWORK = /^[\da-f.:]{3,43}\/(?:24|48)$/;

/** A stored origin without what no sign-in stores: whoever writes the database shows operators no text of theirs. */
export function checkedOrigin({ network, browser }: SessionOrigin): SessionOrigin {
  const isKnown = browser?.split(', ').every((name) => NAMES.has(name)) === true;
  return {
    network: network !== null && NETWORK.test(network) ? network : null,
    browser: isKnown ? browser : null,
  };
}
