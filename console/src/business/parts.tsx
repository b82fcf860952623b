/** What the tables of the page share. */
import type { ReactNode } from 'react';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { useBusinessTexts } from './business-texts.ts';
import { changeOf } from './sums.ts';

/** A table that scrolls where its columns do not fit a phone; the keyboard scrolls it too. */
export function WideTable({ label, children }: { label: string; children: ReactNode }) {
  const { lead } = useTexts();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus.
    <section className={card.scroll} aria-label={`${label}, ${lead.asTable}`} tabIndex={0}>
      <table className={card.table}>{children}</table>
    </section>
  );
}

/** The heads of a table's columns. */
export function Heads({ of }: { of: readonly string[] }) {
  return (
    <thead>
      <tr>
        {of.map((text) => (
          <th key={text} scope="col">
            {text}
          </th>
        ))}
      </tr>
    </thead>
  );
}

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
