/** The service's own rules, for a check without the service. */
import { faultTexts } from '../../contract/texts.ts';
import { readApplication } from '../../domain/application/read-application.ts';
import type { Country } from '../../domain/country-data.ts';
import type { Environment } from '../../domain/partner/credential.ts';
import { type BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import type { FileRow } from '../read/table.ts';
import type { Judge } from './check.ts';
import { BULK_FIELDS } from './columns.ts';
import type { Source } from './source.ts';

/** Stands for whichever it is where no phone needs one. */
const ANY_COUNTRY = 'CO';
const TEXT = faultTexts(BULK_FIELDS);
/** Reads as nothing else than it says, whatever the partner's country. */
const WITH_COUNTRY_CODE = /^\s*(\+|00)/;

/**
 * Says of a row's application what the service would find in it: a text for each fault, in its order. Fields whose
 * cells were refused before are left out: they have their own texts. `country` is the partner's; without it a phone
 * that only the country can explain (D11) makes the judge throw a `BulkError`.
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
  const what = "a phone without country code: say your partner's country, such as --country CO";
  return bulkErrorAt(file.file, row.number, table.columns[column] ?? null, what);
}
