/** What admins see of the partners at the console (docs/operators.md, "Partners"). Reads the store. */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { type ApiKey, readKeys } from '../sql/api-keys.ts';
import type { KeyRefusals } from '../sql/key-outcomes.ts';
import { type ListedPartner, readLastUses, readPartnerPage } from '../sql/partner-list.ts';
import { usedNow } from '../sql/usage.ts';
import { listRefusals } from './keys.ts';
import { requirePartner } from './partners.ts';

export type { ListedPartner };

type Context = Pick<OperatorContext, 'database' | 'vault'>;

/** A page of the partners, newest first. The next page begins before the id `next`; null: this is the last one. */
export async function listPartnerPage(
  { database, vault }: Context,
  before: PartnerId | null,
  limit: number,
): Promise<{ partners: ListedPartner[]; next: PartnerId | null }> {
  const found = await readPartnerPage(database, vault, { before, limit: limit + 1 });
  const partners = found.slice(0, limit);
  return { partners, next: found.length > limit ? partners.at(-1)!.id : null };
}

/** A key as admins see it: the way the command lists it, and what it may still register. */
export interface ShownKey extends ApiKey {
  /** What is left of its cap now; null: it has none. */
  readonly remaining: number | null;
  /** When a request came with it last; null: none has since this is noted. */
  readonly lastUsedAt: Date | null;
}

export interface ShownPartner extends ListedPartner {
  readonly fetchedAt: Date;
  /** Seconds until more of the quota is free; null: nothing is used. */
  readonly resetSeconds: number | null;
  /** Newest first; dead ones too. */
  readonly keys: readonly ShownKey[];
}

/** A partner with its keys and its usage. Throws `OperatorError` if there is none. */
export async function showPartner({ database, vault }: Context, id: PartnerId): Promise<ShownPartner> {
  await requirePartner({ database }, id);
  const [[partner], keys, { at, freedInS }, uses] = await Promise.all([
    readPartnerPage(database, vault, { only: id, limit: 1 }),
    readKeys(database, vault, id),
    usedNow(database, id),
    readLastUses(database, id),
  ]);
  return {
    ...partner!,
    fetchedAt: at,
    resetSeconds: freedInS,
    keys: keys.map((key) => ({
      ...key,
      remaining: key.dailyCap === null ? null : Math.max(key.dailyCap - partner!.used24h, 0),
      lastUsedAt: uses.get(key.id) ?? null,
    })),
  };
}

/** The newest hours in which something of a partner was refused. `more`: there are older ones. */
export async function newestRefusals(
  context: OperatorContext,
  partnerId: PartnerId,
  most: number,
): Promise<{ refusals: KeyRefusals[]; more: boolean }> {
  const refusals: KeyRefusals[] = [];
  for await (const hour of await listRefusals(context, { partnerId })) {
    if (refusals.length === most) return { refusals, more: true };
    refusals.push(hour);
  }
  return { refusals, more: false };
}
