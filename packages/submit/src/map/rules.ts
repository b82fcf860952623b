/** Checks applications by the service's own rules, without the service. */
import type { Application } from '../../../../src/domain/application/fields.ts';
import { type Fault, readApplication } from '../../../../src/domain/application/read-application.ts';
import type { Environment } from '../../../../src/domain/partner/credential.ts';
import { countryOfPhone, normalisePhone, type Phone } from '../../../../src/domain/phone/phone.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../../src/ground/base/country-data.ts';
import { keysOf } from '../../../../src/ground/base/keys-of.ts';
import { faultTexts } from '../../../../src/wire/contract/texts.ts';
import { type BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import type { FileRow } from '../read/table.ts';
import { BULK_FIELDS } from './columns.ts';
import type { ConvertedRow } from './convert.ts';
import { faultInPortuguese } from './fault-in-portuguese.ts';
import type { Source } from './source.ts';

/** Any country will do where no phone needs one. */
const ANY_COUNTRY = 'CO';
const TEXT = faultTexts(BULK_FIELDS);
/** A phone that tells its country, whatever the partner's is. */
const WITH_COUNTRY_CODE = /^\s*(\+|00)/;

/** A number that a phone could be, and its country. */
export interface Candidate {
  readonly phone: Phone;
  readonly country: Country;
}
const MOST_CANDIDATES = 3;

/** What the service makes of an application. */
export interface Judgement {
  /** The application as the service reads it; null where the service refuses it. */
  readonly application: Application | null;
  /** The country of its phone; null where it has none, or one of no country. */
  readonly country: Country | null;
  /** True for a phone without country code. */
  readonly isLocal: boolean;
  /** What such a phone could be where the service refuses it. */
  readonly couldBe: readonly Candidate[];
  /** Without the faults of refused cells, which have their own texts. In the service's order. */
  readonly faults: readonly (Pick<Fault, 'field' | 'problem'> & { readonly text: string })[];
}

/**
 * A function that reads applications as the service does, for a partner of the source's country. Where nobody knows the
 * country, it throws a `BulkError` at the first phone that only the country explains (D11).
 */
export function serviceRules(source: Source, environment: Environment): (row: ConvertedRow) => Judgement {
  const { country: partnerCountry, language } = source;
  const textIn = (fault: Fault) => (language === 'pt' ? faultInPortuguese(fault) : TEXT([fault], language));
  return ({ row, application, faults: refused }) => {
    const isLocal = isPhoneWithoutCode(application.phone);
    if (partnerCountry === null && isLocal) throw countryNeeded(source, row);
    const reading = readApplication(application, BULK_FIELDS, partnerCountry ?? ANY_COUNTRY, environment);
    if (reading.kind === 'valid') {
      const { phone } = reading.application;
      const country = phone === null ? null : countryOfPhone(phone);
      return { application: reading.application, country, isLocal, faults: [], couldBe: [] };
    }
    const faults = (reading.kind === 'invalid' ? reading.faults : [])
      .filter((fault) => !refused.some((cell) => cell.field === fault.field))
      .map((fault) => ({ field: fault.field, problem: fault.problem, text: textIn(fault) }));
    const isRefused = faults.some(({ problem }) => problem === 'phone');
    const couldBe = isRefused && isLocal ? candidatesOf(application, partnerCountry) : [];
    return { application: null, country: null, isLocal, faults, couldBe };
  };
}

/** The numbers of a refused phone in the partner's country, and in countries of the row's currency (D11). */
function candidatesOf(
  { phone, currency }: ConvertedRow['application'],
  partnerCountry: Country | null,
): Candidate[] {
  const code = String(currency ?? '')
    .trim()
    .toUpperCase();
  const ofCurrency = keysOf(COUNTRY_CURRENCY).filter((one) => COUNTRY_CURRENCY[one] === code);
  const found = new Map<Phone, Country>();
  for (const country of [partnerCountry ?? [], ofCurrency].flat()) {
    const read = normalisePhone(String(phone).trim(), country);
    if (read !== null && countryOfPhone(read) === country) found.set(read, country);
  }
  return Array.from(found, ([read, country]) => ({ phone: read, country })).slice(0, MOST_CANDIDATES);
}

function isPhoneWithoutCode(phone: unknown): boolean {
  return typeof phone === 'string' && /\d/.test(phone) && !WITH_COUNTRY_CODE.test(phone);
}

function countryNeeded({ file, table, mapping }: Source, row: FileRow): BulkError {
  const column = mapping.fields.find(({ field }) => field.name === 'phone')?.columns[0] ?? 0;
  return bulkErrorAt(file.file, row.number, table.columns[column] ?? null, {
    en: "a phone without country code: add your partner's country, such as --country CO",
    es: 'un teléfono sin código de país: agrega el país de tu plataforma, por ejemplo --country CO',
    pt: 'um telefone sem código do país: acrescente o país da sua plataforma, por exemplo --country CO',
  });
}
