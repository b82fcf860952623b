/**
 * What operators do with partners: add, rename, close, reopen, list, see the quota (docs/operations.md, "Commands";
 * D18). Writes the store through `sql/partners.ts`.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { isCountry } from '../../../ground/base/country-data.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { readKeys } from '../sql/api-keys.ts';
import {
  closeStoredPartner,
  insertPartner,
  type Partner,
  readPartner,
  readPartners,
  renamePartner,
  reopenStoredPartner,
  type WhenClosing,
} from '../sql/partners.ts';
import { quotaStatus } from './quota-status.ts';

export type { WhenClosing };

const MAX_NAME_LENGTH = 200;

/**
 * Adds a partner. `name` is trimmed: 1 to 200 code points, no control or invisible characters (applicants read the
 * name), not taken; `country` is an ISO 3166-1 alpha-2 code in any capitalisation. Throws `OperatorError`.
 */
export async function addPartner(
  { database }: OperatorContext,
  partner: { name: string; country: string },
): Promise<Partner> {
  const name = readName(partner.name);
  const country = partner.country.trim().toUpperCase();
  if (!isCountry(country)) {
    throw new OperatorError('the country must be a two-letter ISO 3166 code, such as CO or MX');
  }
  const added = await insertPartner(database, { name, country });
  if (added === null) throw nameTaken(name);
  return added;
}

function readName(text: string): string {
  const name = readableText(text, MAX_NAME_LENGTH);
  if (name === null) {
    throw new OperatorError(
      `the name must be 1 to ${MAX_NAME_LENGTH} characters without control characters or invisible ones`,
    );
  }
  return name;
}

function nameTaken(name: string): OperatorError {
  return new OperatorError(`there is already a partner named ${name}`, 'name_taken');
}

/** Gives a partner another name, with the rules of `addPartner`. Throws `OperatorError`. */
export async function changePartnerName(
  context: OperatorContext,
  id: PartnerId,
  text: string,
): Promise<Partner> {
  const name = readName(text);
  const renamed = await renamePartner(context.database, id, name);
  if (renamed === 'taken') throw nameTaken(name);
  return renamed ?? requirePartner(context, id);
}

/**
 * Closes a partner: its keys are revoked, and it gets no key. `whenClosing` is what other subjects then do.
 * Applications and messages stay as they are. Returns the number of keys that were revoked. Throws `OperatorError`,
 * also if it is closed already.
 */
export async function closePartner(
  context: OperatorContext,
  id: PartnerId,
  whenClosing: readonly WhenClosing[],
): Promise<{ partner: Partner; revoked: number }> {
  const closed = await closeStoredPartner(context.database, context.vault, id, whenClosing);
  if (closed !== null) return closed;
  await requirePartner(context, id);
  throw new OperatorError(`partner ${id} was closed before`, 'closed');
}

/**
 * Lets a closed partner have keys again; its old keys stay revoked. Throws `OperatorError`, also if it is not closed.
 */
export async function reopenPartner(context: OperatorContext, id: PartnerId): Promise<Partner> {
  const reopened = await reopenStoredPartner(context.database, id);
  if (reopened !== null) return reopened;
  await requirePartner(context, id);
  throw new OperatorError(`partner ${id} is not closed`, 'not_closed');
}

/** All partners, newest first. */
export function listPartners({ database }: OperatorContext): Promise<Partner[]> {
  return readPartners(database);
}

/** The partner with this id. Throws `OperatorError` if there is none. */
export async function requirePartner(
  { database }: Pick<OperatorContext, 'database'>,
  id: PartnerId,
): Promise<Partner> {
  const partner = await readPartner(database, id);
  if (partner === null) throw new OperatorError(`there is no partner ${id}`, 'not_found');
  return partner;
}

export interface PartnerQuota {
  readonly partner: Partner;
  /** Applications in the rolling 24 hours, over all keys, dead ones included (D18). */
  readonly used24h: number;
  readonly fetchedAt: Date;
  /** The live keys, newest first. `remaining` is never below 0; null without a cap. */
  readonly keys: readonly {
    readonly id: KeyId;
    readonly hint: string;
    readonly environment: string | null;
    readonly dailyCap: number | null;
    readonly remaining: number | null;
  }[];
}

/** A partner's usage, and what each of its live keys still allows. Throws `OperatorError`. */
export async function partnerQuota(context: OperatorContext, partnerId: PartnerId): Promise<PartnerQuota> {
  const partner = await requirePartner(context, partnerId);
  const { used24h, fetchedAt } = await quotaStatus(context.database, partnerId, null);
  const keys = await readKeys(context.database, context.vault, partnerId);
  return {
    partner,
    used24h,
    fetchedAt,
    keys: keys
      .filter(({ status }) => status === 'live')
      .map(({ id, hint, environment, dailyCap }) => ({
        id,
        hint,
        environment,
        dailyCap,
        remaining: dailyCap === null ? null : Math.max(dailyCap - used24h, 0),
      })),
  };
}
