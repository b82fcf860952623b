/**
 * Finds the applications of a person, over all partners, by the phone or the ID number in any spelling (D11, D49;
 * docs/subject.md). Reads blind indexes, and compares the opened records.
 */
import { foldIdNumber } from '../../../domain/application/fold-id-number.ts';
import { foldPhone, isPhone, type Phone } from '../../../domain/phone/phone.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { searchApplications } from '../../applications/sql/application-search.ts';
import type { StoredApplication } from '../../applications/sql/applications.ts';
import { readOnePhone } from '../../partners/uses/operator-phone.ts';

/** How an operator names a person: by the phone or the ID number, as people write it. */
export interface Asked {
  readonly phone?: string | undefined;
  readonly idNumber?: string | undefined;
}

/** A person, by the phone or by the ID number. */
export type Named = { readonly phone: Phone } | { readonly idNumber: string };

type Reader = Pick<OperatorContext, 'database' | 'vault'>;

/**
 * Reads what names the person. Throws `OperatorError` if the text is not exactly one phone, or if the ID number is
 * blank.
 */
export async function readNamed(context: Reader, { phone, idNumber }: Asked): Promise<Named> {
  if (phone !== undefined) return { phone: await readOnePhone(context, phone) };
  const text = idNumber?.trim() ?? '';
  if (text === '') throw new OperatorError('the ID number must not be blank');
  return { idNumber: text };
}

/**
 * The applications of a person, highest id first, in whatever spelling they have the phone (D11) or the ID number
 * (D49). Two phones may have one blind index. So an application whose record shows another phone or ID number is
 * another person's, and is left out. An application whose record cannot be read counts by its index. Throws as
 * `searchApplications`.
 */
export async function findApplications(
  { database, vault }: Reader,
  named: Named,
): Promise<StoredApplication[]> {
  const filter =
    'phone' in named
      ? { phones: [phoneIndexOf(vault, named.phone)] }
      : { idNumber: idNumberIndexOf(vault, named.idNumber) };
  const found: StoredApplication[] = [];
  for await (const application of searchApplications(database, vault, filter)) {
    if (isOf(named, application)) found.push(application);
  }
  return found;
}

function isOf(named: Named, { fields }: StoredApplication): boolean {
  if ('idNumber' in named) {
    const { id_number: idNumber } = fields;
    return typeof idNumber !== 'string' || foldIdNumber(idNumber) === foldIdNumber(named.idNumber);
  }
  const { phone } = fields;
  return typeof phone !== 'string' || !isPhone(phone) || foldPhone(phone) === foldPhone(named.phone);
}

/**
 * The different spellings of the phone or the ID number in these applications. An application that cannot be read adds
 * none.
 */
export function spellingsOf(named: Named, applications: readonly StoredApplication[]): Set<string> {
  const field = 'idNumber' in named ? 'id_number' : 'phone';
  return new Set(applications.map(({ fields }) => fields[field]).filter((text) => typeof text === 'string'));
}
