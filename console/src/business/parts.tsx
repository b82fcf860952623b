/** How the tables of the page write changes and shares. */
import { useFormat } from '../format/format.ts';
import { useBusinessTexts } from './business-texts.ts';
import { changeOf } from './sums.ts';

/** How a number has changed, such as `+12%`; a dash where there was nothing before. */
export function useChange(): (now: number, before: number) => string {
  const format = useFormat();
  return (now, before) => {
    const change = changeOf(now, before);
    return change === null ? '—' : format.change(change);
  };
}

/** Shares and how they have changed; a share of null is a dash. */
export function useRates() {
  const format = useFormat();
  const business = useBusinessTexts();
  return {
    rate: (share: number | null) => (share === null ? '—' : format.rate(share)),
    points: (now: number | null, before: number | null) =>
      now === null || before === null ? '—' : business.points(format.signed((now - before) * 100)),
  };
}
