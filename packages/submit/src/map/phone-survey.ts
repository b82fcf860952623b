/** Counts the phones of a file as the service reads them, so that a person sees where messages would go. */
import type { Application } from '../../../../src/domain/application/fields.ts';
import type { Phone } from '../../../../src/domain/phone/phone.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../../src/ground/base/country-data.ts';
import type { Candidate } from './rules.ts';

/** Examples of each kind. */
const MAX_EXAMPLES = 5;

/** A phone as it stands in the file, and what the service makes of it. */
export interface ReadPhone {
  readonly row: number;
  readonly typed: string;
  readonly phone: Phone;
  /** null for a code of no country. */
  readonly country: Country | null;
  /** The currency of the row's amounts. */
  readonly currency: string;
}

/** A phone as it stands in the file, and the numbers that it could be. */
interface RefusedPhone {
  readonly row: number;
  readonly typed: string;
  readonly couldBe: readonly Candidate[];
}

/** How many phones are of a kind, and the first ones. */
export interface PhonesOfAKind {
  count: number;
  readonly first: ReadPhone[];
}

export class PhoneSurvey {
  /** How many phones each country has; null stands for codes of no country. */
  readonly byCountry = new Map<Country | null, number>();
  /** The rows without a phone. */
  without = 0;
  /** The phones without country code. */
  readonly local: PhonesOfAKind = { count: 0, first: [] };
  /** The phones in rows whose amounts are in another currency than that of the phone's country. */
  readonly otherCurrency: PhonesOfAKind = { count: 0, first: [] };

  /** The phones that the service refuses, and what those without country code could be. */
  readonly refused: { count: number; readonly first: RefusedPhone[] } = { count: 0, first: [] };

  addRefused(row: number, typed: unknown, couldBe: readonly Candidate[]): void {
    this.refused.count += 1;
    if (this.refused.first.length < MAX_EXAMPLES)
      this.refused.first.push({ row, typed: String(typed), couldBe });
  }

  add(
    row: number,
    typed: unknown,
    isLocal: boolean,
    { phone, currency }: Application,
    country: Country | null,
  ): void {
    if (phone === null) {
      this.without += 1;
      return;
    }
    this.byCountry.set(country, (this.byCountry.get(country) ?? 0) + 1);
    const isOther = country !== null && COUNTRY_CURRENCY[country] !== currency;
    if (!isLocal && !isOther) return;
    const read = { row, typed: String(typed), phone, country, currency };
    if (isLocal) add(this.local, read);
    if (isOther) add(this.otherCurrency, read);
  }
}

function add(kind: PhonesOfAKind, read: ReadPhone): void {
  kind.count += 1;
  if (kind.first.length < MAX_EXAMPLES) kind.first.push(read);
}
