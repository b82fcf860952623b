/** The progress of a submission, on stderr: a bar for people, a line now and then for logs. */

import type { Writable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { counted } from '../../base/counted.ts';

interface ProgressOptions {
  readonly clock: Clock;
  readonly isTerminal: boolean;
  readonly verb: string;
  readonly total: number | null;
}

interface ProgressView {
  update(rows: number): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;

/** Without a known `total` there is no bar. */
export async function showProgress(
  stderr: Writable,
  { clock, isTerminal, verb, total }: ProgressOptions,
): Promise<ProgressView> {
  return isTerminal && total !== null ? bar(stderr, clock, verb, total) : lines(stderr, clock, verb, total);
}

async function bar(stderr: Writable, clock: Clock, verb: string, total: number): Promise<ProgressView> {
  // Loaded here, because only a terminal needs the bar and loading it takes half as long as all the rest.
  const { SingleBar } = await import('cli-progress');
  const start = clock.monotonicMs();
  const rate = (rows: number) => ({ rate: count(rows / Math.max(0.001, seconds(clock, start))) });
  const single = new SingleBar({
    stream: stderr as NodeJS.WritableStream,
    format: `${verb} {bar} {value} of {total} rows, {rate} a second, {eta_formatted} left`,
    barsize: 30,
    hideCursor: true,
    gracefulExit: false,
    formatValue: (value, _options, type) =>
      type === 'value' || type === 'total' ? count(value) : String(value),
  });
  single.start(total, 0, rate(0));
  return {
    update: (rows) => single.update(rows, rate(rows)),
    stop: () => single.stop(),
  };
}

function lines(stderr: Writable, clock: Clock, verb: string, total: number | null): ProgressView {
  const start = clock.monotonicMs();
  let told = start;
  return {
    update(rows) {
      const now = clock.monotonicMs();
      if (now - told < LINE_EVERY_MS) return;
      told = now;
      const rate = rows / seconds(clock, start);
      const left = total === null ? '' : `, ${count((total - rows) / rate)} s left`;
      const of = total === null ? '' : ` of ${count(total)}`;
      stderr.write(
        `${verb} ${counted(total ?? rows, 'row', 'rows', `${count(rows)}${of}`)}, ${count(rate)} a second${left}\n`,
      );
    },
    stop() {},
  };
}

function seconds(clock: Clock, start: number): number {
  return (clock.monotonicMs() - start) / 1000;
}

/** `1 row`, `1,234 rows`. */
export function rowsOf(rows: number): string {
  return counted(rows, 'row', 'rows', count(rows));
}

/** `1,234,567`. The platform's own formatting would load large tables. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}
