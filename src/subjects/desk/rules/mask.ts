/**
 * Masks personal data that nobody gave a reason to show: what is left tells two persons apart (docs/operators.md, "One
 * application"). Pure.
 */

/** The first letters of at most three words of a name, such as `M. G.`; null: it has no letter. */
export function initialsOf(name: string | null): string | null {
  const letters = (name ?? '')
    .split(/\s+/)
    .map((word) => /\p{L}/u.exec(word)?.[0])
    .filter((letter) => letter !== undefined)
    .slice(0, 3);
  return letters.length === 0 ? null : letters.map((letter) => `${letter.toUpperCase()}.`).join(' ');
}

/** The last two characters of a number, such as `…01`. If it has fewer than six, only `…` is shown. */
export function endOf(number: string | null): string | null {
  if (number === null) return null;
  return [...number].length < 6 ? '…' : `…${[...number].slice(-2).join('')}`;
}
