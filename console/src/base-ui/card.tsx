/** The parts that the sections of the page share. */
import { type ReactNode, useId } from 'react';
import card from './card.module.css';

interface CardProps {
  readonly title: string;
  /** Beside the title. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}

export function Card({ title, beside, children }: CardProps) {
  const id = useId();
  return (
    <section className={card.card} aria-labelledby={id}>
      <div className={card.cardHead}>
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {beside}
      </div>
      {children}
    </section>
  );
}

/** Names and values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={card.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
