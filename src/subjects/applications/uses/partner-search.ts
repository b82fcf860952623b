/**
 * Finds a partner's own applications, of a day or with an ID number, a page at a time (D56). `sql/partner-search.ts`
 * has the statements.
 */
import { foldIdNumber } from '../../../domain/application/fold-id-number.ts';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { asUnavailable } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { idNumberIndexOf } from '../../../seal/blind-indexes.ts';
import { numberIn, type TokenScope, tokenOf } from '../../../seal/numbered-tokens.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type PartnerApplication, readPartnerApplications } from '../sql/partner-application.ts';
import { ownOfDay, ownOfIdNumber } from '../sql/partner-search.ts';
import type { Pace } from '../sql/read-envelopes.ts';

export type { Pace };

/** Which applications are asked for, and which page of them; `cursor` null: the first one. */
interface OwnSearch {
  readonly asked: { readonly idNumber: string } | { readonly day: string };
  readonly cursor: string | null;
  readonly limit: number;
}

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** A page. It may be short, or empty, and still have a `next`: a request looks at a bounded number of batches. */
export interface OwnFound {
  /** Newest first. */
  readonly applications: readonly PartnerApplication[];
  /** Those whose stored facts are damaged. */
  readonly unreadable: readonly ApplicationId[];
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
}

/**
 * A page of the partner's applications; `bad_cursor` where the service gave no such cursor to this partner for this
 * question. Calls `pace` before each part of the work, with its cost. Throws `UnavailableError` if the database does
 * not answer, or this process does not have the data key of an applicant, and what `pace` throws.
 */
export async function partnerSearch(
  store: Store,
  partnerId: PartnerId,
  { asked, cursor, limit }: OwnSearch,
  pace?: Pace,
): Promise<OwnFound | 'bad_cursor'> {
  const { database, vault } = store;
  const question = 'day' in asked ? `day:${asked.day}` : `id_number:${foldIdNumber(asked.idNumber)}`;
  const scope: TokenScope = { kind: 'page', prefix: 'pag_', scope: `${partnerId}:${question}` };
  const place = cursor === null ? null : numberIn(vault, scope, cursor);
  if (cursor !== null && place === null) return 'bad_cursor';
  const page = { partnerId, before: place === null ? null : toApplicationId(place), limit };
  const read = async () => {
    const { ids, next } =
      'day' in asked
        ? await ownOfDay(database, asked.day, page)
        : await ownOfIdNumber(database, vault, idNumberIndexOf(vault, asked.idNumber), page);
    const found = await readPartnerApplications(store, partnerId, ids, pace);
    const told = ids.flatMap((id) => (found.has(id) ? [{ id, application: found.get(id)! }] : []));
    return {
      applications: told.flatMap(({ application }) => (application === 'unreadable' ? [] : [application])),
      unreadable: told.flatMap(({ id, application }) => (application === 'unreadable' ? [id] : [])),
      next: next === null ? null : tokenOf(vault, scope, next),
    };
  };
  return read().catch(asUnavailable("the partner's applications could not be read"));
}
