/** Hours and days as the axis and the table name them. */
import { useLanguage } from '../texts/texts.ts';

export function useSpanFormat() {
  const language = useLanguage();
  const hour = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' });
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
  const whole = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    /** Short: `bars` is how many the picture has. A day of 24 bars needs no dates. */
    label: (from: number, bars: number) => (bars <= 24 ? hour : day).format(from),
    whole: (from: number) => whole.format(from),
  };
}
