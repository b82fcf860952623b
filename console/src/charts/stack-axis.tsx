/** The scale and the lines behind a picture of stacked bars: how high a bar is, and which number that is. */
import { type ScaleLinear, scaleLinear } from 'd3-scale';
import styles from './charts.module.css';

/** Height of the picture, and where the bars stand on: below them are the times. */
export const HEIGHT = 224;
export const GROUND = 200;
const TOP = 16;
/** Without it a picture of few things would have lines between whole numbers. */
const LEAST = 4;

export type StackScale = ScaleLinear<number, number>;

/** The scale of bars up to `most`. */
export function stackScale(most: number): StackScale {
  return scaleLinear([0, Math.max(most, LEAST)], [GROUND, TOP]).nice(4);
}

/** `text` writes a number. */
export function StackAxis({ y, text }: { readonly y: StackScale; readonly text: (value: number) => string }) {
  return y
    .ticks(4)
    .filter(Number.isInteger)
    .map((tick) => (
      <g key={tick}>
        <line className={tick === 0 ? styles.axis : styles.grid} x2="100%" y1={y(tick)} y2={y(tick)} />
        <text className={styles.label} y={y(tick) - 4}>
          {text(tick)}
        </text>
      </g>
    ));
}
