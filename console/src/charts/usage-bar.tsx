/** How much of a cap is used now; nothing without a cap. */
import { RowBar } from './row-bar.tsx';

/** From this share on a cap is nearly used. */
const NEARLY = 0.9;

export function UsageBar({ used, cap }: { used: number; cap: number | null }) {
  if (cap === null) return null;
  const share = Math.min(used / Math.max(cap, 1), 1);
  return (
    <RowBar
      end={1}
      parts={[
        { value: share, kind: share >= NEARLY ? 'against' : 'plain' },
        { value: 1 - share, kind: 'lost' },
      ]}
    />
  );
}
