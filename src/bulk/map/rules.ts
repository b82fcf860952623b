/** Checks applications by the service's own rules, without the service. */

import { readApplication } from '../../applications/rules/read-application.ts';
import type { Country } from '../../base/country-data.ts';
import { faultTexts } from '../../contract/texts.ts';
import type { Environment } from '../../partners/rules/credential.ts';
import { type BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import type { FileRow } from '../read/table.ts';
import type { Judge } from './check.ts';
import { BULK_FIELDS } from './columns.ts';
import type { Source } from './source.ts';

/** Any country will do where no phone needs one. */
const ANY_COUNTRY = 'CO';
const TEXT = faultTexts(BULK_FIELDS);
/** A phone that reads the same whatever the partner's country is. */
const WITH_COUNTRY_CODE = /^\s*(\+|00)/;

/**
 * A judge that gives the service's text for each fault of an application, in the service's order. Fields with a
 * refused cell are left out, because they have their own texts. `country` is the partner's country. Without it the
 * judge throws a `BulkError` at the first phone that only the country explains (D11).
 */
export function serviceRules(source: Source, country: Country | null, environment: Environment): Judge {
  return (row, application, refused) => {
    if (country === null && needsCountry(application)) throw countryNeeded(source, row);
    const reading = readApplication(application, BULK_FIELDS, country ?? ANY_COUNTRY, environment);
    if (reading.kind !== 'invalid') return [];
    return reading.faults
      .filter((fault) => !refused.some((cell) => cell.field === fault.field))
      .map((fault) => TEXT([fault], 'en'));
  };
}

function needsCountry({ phone }: Readonly<Record<string, unknown>>): boolean {
  return typeof phone === 'string' && /\d/.test(phone) && !WITH_COUNTRY_CODE.test(phone);
}

function countryNeeded({ file, table, mapping }: Source, row: FileRow): BulkError {
  const column = mapping.fields.find(({ field }) => field.name === 'phone')?.columns[0] ?? 0;
  const what = "a phone without country code: add your partner's country, such as --country CO";
  return bulkErrorAt(file.file, row.number, table.columns[column] ?? null, what);
}
