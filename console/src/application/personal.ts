/** Personal data that was revealed. */
import { useEffect, useState } from 'react';

/** A state of the component alone: gone with the page, and where the page is hidden because the session ended. */
export function usePersonal<Revealed>() {
  const [revealed, setRevealed] = useState<Revealed | null>(null);
  useEffect(() => () => setRevealed(null), []);
  return [revealed, setRevealed] as const;
}
