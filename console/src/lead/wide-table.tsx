/** A table that may be wider than a phone. */
import type { ReactNode } from 'react';
import card from '../base-ui/card.module.css';
import { useTexts } from '../texts/texts.ts';

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
