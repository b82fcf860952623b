/**
 * Reads what the page of a person shows: all applications with the phone (D11) or the ID number (D49) of one of them,
 * and what lies beside them (docs/operators.md, "A person"). Reads only, and shows nothing personal.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isPhone } from '../../../domain/phone/phone.ts';
import { loginsOf } from '../../../program/operations/sql/logins.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { readApplications } from '../../applications/sql/applications.ts';
import { findByIndexes } from '../../applications/sql/desk/find-by-indexes.ts';
import { type Beside, type PhoneStop, readBeside, readOfPhones } from '../sql/person.ts';
import type { Desk } from './desk-context.ts';
import { type FoundApplication, matchedOf } from './search.ts';

/** The most applications of a person that are shown. */
const MOST_SHOWN = 100;

export interface ShownPerson {
  /** Newest first, that of the address among them. */
  readonly applications: readonly (FoundApplication & { readonly beside: Beside })[];
  readonly more: boolean;
  readonly suppressions: readonly PhoneStop[];
  readonly erasedAt: readonly Date[];
  /** The present logins of those who exported something. */
  readonly logins: ReadonlyMap<string, string>;
}

/**
 * The person of an application; null: there is no such application. Of an erased one nothing leads to others. Throws as
 * `search`.
 */
export async function readPerson({ database, vault }: Desk, id: ApplicationId): Promise<ShownPerson | null> {
  const [own] = await readApplications(database, vault, [id]);
  if (own === undefined) return null;
  const { phone, id_number: idNumber } = own.fields;
  const phones = typeof phone === 'string' && isPhone(phone) ? [phone] : [];
  const indexes = {
    phones: phones.map((one) => phoneIndexOf(vault, one)),
    idNumber: typeof idNumber === 'string' ? idNumberIndexOf(vault, idNumber) : null,
  };
  const ids = await findByIndexes(database, vault, indexes, MOST_SHOWN + 1);
  const others = await readApplications(
    database,
    vault,
    ids.filter((one) => one !== id).slice(0, MOST_SHOWN),
  );
  const asked = { number: id, phones, idNumber: typeof idNumber === 'string' ? idNumber : null };
  const found = [own, ...others]
    .map((application) => ({ application, matched: matchedOf(application, asked) }))
    .filter(({ matched }) => matched.length > 0)
    .sort((one, other) => other.application.id - one.application.id);
  const besideOf = await readBeside(
    database,
    found.map(({ application }) => application.id),
  );
  const applications = found.map((one) => ({ ...one, beside: besideOf(one.application.id) }));
  const actors = applications.flatMap(({ beside }) => beside.exports.map(({ actor }) => actor));
  return {
    applications,
    more: ids.length > MOST_SHOWN,
    ...(await readOfPhones(database, indexes.phones)),
    logins: await loginsOf(database, actors),
  };
}
