/** Looks up the addresses of a host and refuses those that are not public, for the very connection that uses them. */
import { Resolver } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import type { OwnFailure } from '../rules/failures.ts';
import { isPublicAddress } from '../rules/public-address.ts';

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<string[]>;

/** The failure of a name with an address that is not public. */
export const PRIVATE_ADDRESS = 'private_address' satisfies OwnFailure;
/** The failure of a look-up without an answer. */
const NAME_SERVERS = 'name_servers' satisfies OwnFailure;

const NO_SUCH_NAME: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

const ATTEMPT_MS = 2_000;
const ATTEMPTS = 2;

/**
 * Asks the name servers. The system's own look-up is not used: it runs in four threads that the whole process shares,
 * so that the slow name server of one partner would hold up every other.
 */
export function systemResolver(): Resolve {
  return bothFamilies(new Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS }));
}

/** The IPv4 and the IPv6 addresses of a name, those of IPv4 first. One of the two answers is enough. */
export function bothFamilies(resolver: Pick<Resolver, 'resolve4' | 'resolve6'>): Resolve {
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  };
}

/**
 * A look-up for `net.connect`, which connects to the addresses that it gets here and to no others. A name with any
 * address that is not public fails as a whole: its owner is mistaken, or tries to reach this network.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        if (addresses.length === 0) return callback(coded('ENOTFOUND'), '');
        if (!addresses.every(isPublicAddress)) return callback(coded(PRIVATE_ADDRESS), '');
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (options.all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      ({ code }: NodeJS.ErrnoException) =>
        callback(coded(NO_SUCH_NAME.has(code) ? 'ENOTFOUND' : NAME_SERVERS), ''),
    );
  };
}

function coded(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
