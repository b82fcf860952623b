/** Times and amounts as the language of the page writes them. */
import { type Language, useLanguage } from './texts/texts.ts';

interface Format {
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
  readonly bytes: (count: number) => string;
}

const HOUR_MS = 3_600_000;
const UNITS = [
  ['day', 24 * HOUR_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
] as const;

const formats = new Map<Language, Format>();

export function useFormat(): Format {
  const language = useLanguage();
  const known = formats.get(language) ?? formatOf(language);
  formats.set(language, known);
  return known;
}

/** Formatters of a language are slow to make and never change. */
function formatOf(language: Language): Format {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const percent = new Intl.NumberFormat(language, { style: 'percent' });
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const month = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' });
  const amountBy = (format: Intl.NumberFormat) => (amount: number | null, currency: string | null) =>
    amount === null ? '—' : `${currency ?? ''} ${format.format(amount)}`.trim();
  return {
    time: (iso) => time.format(new Date(iso)),
    relative: (iso) => {
      const left = Date.parse(iso) - Date.now();
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
    bytes: (count) =>
      count < 1e6 ? `${number.format(Math.ceil(count / 1e3))} kB` : `${number.format(count / 1e6)} MB`,
  };
}
