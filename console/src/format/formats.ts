/** Times and amounts as a language writes them. */
import { timeNow } from '../api/service-time.ts';

export interface Format {
  /** With the time zone of the browser: operators of one store sit in several. */
  readonly time: (iso: string) => string;
  /** How far away a time is, such as `in 3 hours`. */
  readonly relative: (iso: string) => string;
  /** `month` is such as `2026-03`. */
  readonly month: (month: string) => string;
  readonly amount: (amount: number | null, currency: string | null) => string;
  /** An amount without its fraction, for lists. */
  readonly wholeAmount: (amount: number | null, currency: string | null) => string;
  readonly number: (value: number) => string;
  /** `share` is from 0 to 1. */
  readonly percent: (share: number) => string;
  /** The same, to a tenth of a percent. */
  readonly rate: (share: number) => string;
  /** A share with its sign, such as `+12%`. */
  readonly change: (share: number) => string;
  /** A number with its sign, to a tenth. */
  readonly signed: (value: number) => string;
  readonly bytes: (count: number) => string;
}

const HOUR_MS = 3_600_000;
const UNITS = [
  ['day', 24 * HOUR_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
] as const;

/**
 * Whose numbers and dates to write: Mexico's comma is Colombia's point, so 120.500 is two amounts, and 3 May is Britain's
 * May 3. `tags` are those that the browser prefers; one without a country says nothing of either.
 */
export function localeOf(language: string, tags: readonly string[]): string {
  return tags.find((tag) => tag.startsWith(`${language}-`) && /-[A-Z]{2}$/.test(tag)) ?? language;
}

/** A day and a time of day with its zone, as the locale writes them. */
export const DAY_AND_TIME = {
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
} as const satisfies Intl.DateTimeFormatOptions;

/** Formatters of a language are slow to make and never change: `useFormat` keeps them. `locale` is of `localeOf`. */
export function formatOf(language: string, locale = language): Format {
  // Spanish and Portuguese would leave four digits ungrouped beside five that are grouped.
  const numberBy = (options: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(locale, { useGrouping: 'always', ...options });
  const number = numberBy({ maximumFractionDigits: 2 });
  const whole = numberBy({ maximumFractionDigits: 0 });
  const percent = numberBy({ style: 'percent' });
  const rate = numberBy({ style: 'percent', maximumFractionDigits: 1 });
  const change = numberBy({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' });
  const signed = numberBy({ maximumFractionDigits: 1, signDisplay: 'exceptZero' });
  const time = new Intl.DateTimeFormat(locale, { year: 'numeric', ...DAY_AND_TIME });
  const month = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' });
  const amountBy = (format: Intl.NumberFormat) => (amount: number | null, currency: string | null) =>
    amount === null ? '—' : `${currency ?? ''} ${format.format(amount)}`.trim();
  return {
    time: (iso) => time.format(new Date(iso)),
    relative: (iso) => {
      const left = Date.parse(iso) - timeNow();
      // Hours up to two days: reviews are due within hours.
      const [unit, ms] =
        UNITS.find(([, size]) => Math.abs(left) >= size * (size > HOUR_MS ? 2 : 1)) ?? UNITS[2];
      return relative.format(Math.trunc(left / ms), unit);
    },
    month: (text) => month.format(new Date(`${text}-01T00:00:00Z`)),
    amount: amountBy(number),
    wholeAmount: amountBy(whole),
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    rate: (share) => rate.format(share),
    change: (share) => change.format(share),
    signed: (value) => signed.format(value),
    bytes: (count) =>
      count < 1e6 ? `${number.format(Math.ceil(count / 1e3))} kB` : `${number.format(count / 1e6)} MB`,
  };
}
