/** Spans of time, in the two largest units that are not zero. */
import type { Language } from '../texts/texts.ts';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** The shortest that leaves a space before the unit where the language wants one. */
const DISPLAY = { en: 'narrow', es: 'short', pt: 'narrow' } as const;

/** Such as `3d 4h`; the sign does not count. Less than a minute is a minute. */
export function durationText(milliseconds: number, language: Language): string {
  let seconds = Math.max(60, Math.round(Math.abs(milliseconds) / 1_000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count > 0)
      parts.push(
        new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: DISPLAY[language] }).format(
          count,
        ),
      );
    seconds -= count * size;
  }
  return parts.slice(0, 2).join(' ');
}
