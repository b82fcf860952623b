/** A text as a QR code. */
import { encode } from 'uqr';

/** One path of squares: light modules stay the background's. */
export function QrCode({
  text,
  label,
  className,
}: {
  text: string;
  label: string;
  className?: string | undefined;
}) {
  const { data, size } = encode(text, { border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      className={className}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000000" />
    </svg>
  );
}
