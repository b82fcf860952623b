/** Hours and days as the axis and the table name them. */
import { DAY_AND_TIME, localeOf } from '../format/formats.ts';
import { useLanguage } from '../texts/texts.ts';
import type { Span } from './decision-bars.ts';

export function useSpanFormat() {
  const locale = localeOf(useLanguage(), navigator.languages);
  const hour = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
  const dayOfYear = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const hourOfDay = new Intl.DateTimeFormat(locale, DAY_AND_TIME);
  return {
    /** Short: `bars` is how many the picture has. A day of 24 bars needs no dates. */
    label: (from: number, bars: number) => (bars <= 24 ? hour : day).format(from),
    /** A day has its year, and an hour of the last week needs none. */
    whole: (from: number, span: Span) => (span === 'hour' ? hourOfDay : dayOfYear).format(from),
  };
}
