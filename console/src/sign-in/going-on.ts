/** Goes on where the operator was, as soon as they have signed in again: here, or in another tab. */
import { useEffect } from 'react';
import { goOn, useWaiting } from '../api/act.ts';
import type { useSession } from '../api/signed-in.ts';
import { browserClock } from '../clock.ts';

const LOOK_MS = 3_000;

export function useGoingOn({ data, refetch }: ReturnType<typeof useSession>): void {
  const waits = useWaiting('session').length > 0;
  const isOver = data?.isOver === true;
  useEffect(() => {
    if (!waits && !isOver) return;
    const look = async () => {
      if (document.hidden) return;
      const { data: now, isSuccess } = await refetch();
      if (isSuccess && now.operator !== null && !now.isOver) goOn();
    };
    void look();
    const timer = browserClock.every(LOOK_MS, () => void look());
    return () => timer.cancel();
  }, [waits, isOver, refetch]);
}
