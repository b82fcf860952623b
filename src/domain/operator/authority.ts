/** The largest amounts that an operator decides alone (D48), and what each role may do (docs/operators.md). Pure. */
import { CURRENCIES } from '../../ground/base/country-data.ts';

/** An amount by currency, in hundredths. A currency without an entry: the operator decides on nothing alone. */
export type Authority = ReadonlyMap<string, bigint>;

/** What `--authority` takes, for error texts. */
export const AUTHORITY_RULE =
  'a currency and the largest amount, more than 0 and with two decimals at most, such as COP=5000000, or none';

/** Reads `COP=5000000`; null if the text breaks the rule. */
export function readAuthority(text: string): readonly [currency: string, hundredths: bigint] | null {
  const [, currency = '', units = '', decimals = ''] =
    /^\s*([A-Za-z]{3})\s*=\s*(\d{1,16})(?:\.(\d{1,2}))?\s*$/.exec(text) ?? [];
  const name = currency.toUpperCase();
  if (!Object.hasOwn(CURRENCIES, name)) return null;
  const hundredths = BigInt(units) * 100n + BigInt(decimals.padEnd(2, '0'));
  return hundredths > 0n ? [name, hundredths] : null;
}

/** `COP=5000000, MXN=20000.50`; the empty text for none. */
export function authorityText(authority: Authority): string {
  return [...authority].map(([currency, hundredths]) => `${currency}=${amountText(hundredths)}`).join(', ');
}

/** The amounts by currency, as JSON: `{"COP": "5000000"}`. */
export function authorityJson(authority: Authority): Record<string, string> {
  return Object.fromEntries(
    [...authority].map(([currency, hundredths]) => [currency, amountText(hundredths)]),
  );
}

/** An amount, with decimals only if it has some. */
function amountText(hundredths: bigint): string {
  const rest = hundredths % 100n;
  return `${hundredths / 100n}${rest === 0n ? '' : `.${String(rest).padStart(2, '0')}`}`;
}

// The roles: each role may do all that the roles before it in its list may, and nothing of the other list.

export const ROLES = ['viewer', 'reviewer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The roles of accounts of people at partners (D54). */
export const PARTNER_ROLES = ['member', 'owner'] as const;
export type PartnerRole = (typeof PARTNER_ROLES)[number];

/** Whether an account with the role may do what asks for `needed`. */
export function mayActAs(role: Role | PartnerRole, needed: Role | PartnerRole): boolean {
  const list = rolesLike(needed);
  return list.indexOf(role) >= list.indexOf(needed);
}

/** The roles of the list that has this one, the least first. */
export function rolesLike(role: Role | PartnerRole): readonly (Role | PartnerRole)[] {
  return (PARTNER_ROLES as readonly string[]).includes(role) ? PARTNER_ROLES : ROLES;
}
