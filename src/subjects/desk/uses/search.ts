/**
 * Finds what an operator types into the one field of the console: an application by its number, persons by a phone
 * (D11) or an ID number (D49) in any spelling, a partner, a login (docs/operators.md, "Find"). Reads, and counts the
 * search.
 */
import { foldIdNumber } from '../../../domain/application/fold-id-number.ts';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { foldPhone, isPhone, type Phone, typedPhone } from '../../../domain/phone/phone.ts';
import { counted } from '../../../ground/base/counted.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { readApplications, type StoredApplication } from '../../applications/sql/applications.ts';
import { findByIndexes } from '../../applications/sql/desk/find-by-indexes.ts';
import { readingsOf } from '../../partners/uses/operator-phone.ts';
import { type By, operatorsLike, type PartnerName, partnersLike } from '../sql/names.ts';
import { countSearch } from '../sql/operator-searches.ts';
import type { Desk } from './desk-context.ts';
import { Refusal } from './refusal.ts';

type Matched = 'number' | 'phone' | 'id_number';

export interface FoundApplication {
  readonly application: StoredApplication;
  readonly matched: readonly Matched[];
}

/** Applications with one ID number, whatever its spelling. */
interface FoundPerson {
  readonly newest: FoundApplication;
  readonly matched: readonly Matched[];
  readonly count: number;
}

export interface FoundAll {
  /** That with the number first, then the newest; `MOST_FOUND` at most. */
  readonly applications: readonly FoundApplication[];
  readonly more: boolean;
  readonly persons: readonly FoundPerson[];
  readonly partners: readonly PartnerName[];
  readonly operators: readonly By[];
}

/**
 * Counts a search of the operator: somebody who asks often enough learns which phones are known. Throws a `Refusal`
 * (429) where it is one too many.
 */
export async function admitSearch({ database }: Pick<Desk, 'database'>, operatorId: number): Promise<void> {
  const retryAfterSeconds = await countSearch(database, operatorId);
  if (retryAfterSeconds === null) return;
  const wait = `too many searches within a minute: wait ${counted(retryAfterSeconds, 'second')}`;
  throw new Refusal(429, wait, { retryAfterSeconds });
}

/** The most applications of an answer. */
const MOST_FOUND = 50;

/**
 * Everything that the text can mean. Throws an `OtherIndexKeyError` if a `vault reindex` passed this process by, and an
 * `UnavailableError` during one.
 */
export async function search(desk: Desk, typed: string): Promise<FoundAll> {
  // Pasted text may have hidden characters, and no name, number or phone has them.
  const text = typed.replace(/\p{C}/gu, '').trim();
  const [{ applications, more }, partners, operators] = await Promise.all([
    findApplications(desk, text),
    text === '' ? [] : partnersLike(desk.database, text),
    text === '' ? [] : operatorsLike(desk.database, text),
  ]);
  return { applications, more, persons: personsOf(applications), partners, operators };
}

async function findApplications({ database, vault }: Desk, text: string) {
  // No name of a person is looked for: without a digit the text is none of these.
  if (!/\p{Nd}/u.test(text)) return { applications: [], more: false };
  const phones = await readingsOf({ database }, typedPhone(text));
  const indexes = {
    phones: phones.map((phone) => phoneIndexOf(vault, phone)),
    idNumber: idNumberIndexOf(vault, text),
  };
  const number = numberOf(text);
  const found = await findByIndexes(database, vault, indexes, MOST_FOUND + 1);
  const ids = number === null || found.includes(number) ? found : [number, ...found];
  const read = await readApplications(database, vault, ids);
  const applications = read
    .map((application) => ({
      application,
      matched: matchedOf(application, { number, phones, idNumber: text }),
    }))
    .filter(({ matched }) => matched.length > 0);
  return { applications: applications.slice(0, MOST_FOUND), more: applications.length > MOST_FOUND };
}

function numberOf(text: string): ApplicationId | null {
  const [, digits] = /^#?([1-9]\d{0,14})$/.exec(text) ?? [];
  return digits === undefined ? null : toApplicationId(digits);
}

/**
 * By what an application was found. Two phones may have one blind index, so the opened record decides; one that cannot
 * be read is shown only by its number.
 */
export function matchedOf(
  { id, fields }: StoredApplication,
  asked: {
    readonly number: ApplicationId | null;
    readonly phones: readonly Phone[];
    /** null: none. */
    readonly idNumber: string | null;
  },
): Matched[] {
  const { phone, id_number: idNumber } = fields;
  const asNumber = asked.idNumber === null ? null : foldIdNumber(asked.idNumber);
  const folded = typeof phone === 'string' && isPhone(phone) ? foldPhone(phone) : null;
  const is: readonly (readonly [Matched, boolean])[] = [
    ['number', id === asked.number],
    ['phone', folded !== null && asked.phones.some((one) => foldPhone(one) === folded)],
    ['id_number', typeof idNumber === 'string' && foldIdNumber(idNumber) === asNumber],
  ];
  return is.filter(([, fits]) => fits).map(([kind]) => kind);
}

function personsOf(found: readonly FoundApplication[]): FoundPerson[] {
  const byIdNumber = Map.groupBy(
    found.filter(({ application }) => typeof application.fields.id_number === 'string'),
    ({ application }) => foldIdNumber(application.fields.id_number as string),
  );
  return [...byIdNumber.values()].map((of) => ({
    newest: of[0]!,
    matched: [...new Set(of.flatMap(({ matched }) => matched))],
    count: of.length,
  }));
}
