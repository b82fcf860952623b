/** Holds the rows of a table at their places from when the focus comes among them until the operator moves it away. */
import { type FocusEvent, useState } from 'react';
import { type SteadyRows, steadyRows } from './steady-rows.ts';

interface HeldRows<Item> extends SteadyRows<Item> {
  /** Holds them also where no focus came: a click on a button brings it in some browsers alone. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Of the table. */
  readonly onBlur: (event: FocusEvent<HTMLElement>) => void;
}

/** `fresh` is the newest page of the list. The table calls `hold` where it gets the focus. */
export function useSteadyRows<Item extends { readonly id: number }>(fresh: readonly Item[]): HeldRows<Item> {
  const [held, setHeld] = useState<readonly Item[] | null>(null);
  return {
    ...steadyRows(held, fresh),
    hold: () => setHeld((rows) => rows ?? fresh),
    release: () => setHeld(null),
    onBlur: ({ currentTarget, target, relatedTarget }) => {
      // The focus comes back from another window. React tells of a row's dialog, too, which is no part of the table.
      const isStill = currentTarget.contains(relatedTarget) || currentTarget.contains(document.activeElement);
      if (!isStill && currentTarget.contains(target)) setHeld(null);
    },
  };
}
