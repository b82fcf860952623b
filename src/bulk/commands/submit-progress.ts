/** The progress of a submission, on stderr: a bar for people, a line now and then for logs. */

import type { Writable } from 'node:stream';
import { counted } from '../../base/counted.ts';

interface ProgressView {
  update(rows: number): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;

/** Without a known `total` there is no bar. */
export async function showProgress(
  stderr: Writable,
  { isTerminal, verb, total }: { isTerminal: boolean; verb: string; total: number | null },
): Promise<ProgressView> {
  return isTerminal && total !== null ? bar(stderr, verb, total) : lines(stderr, verb, total);
}

async function bar(stderr: Writable, verb: string, total: number): Promise<ProgressView> {
  // Loaded here, because only a terminal needs the bar and loading it takes half as long as all the rest.
  const { SingleBar } = await import('cli-progress');
  const start = performance.now();
  const rate = (rows: number) => ({ rate: count(rows / Math.max(0.001, seconds(start))) });
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

function lines(stderr: Writable, verb: string, total: number | null): ProgressView {
  const start = performance.now();
  let told = start;
  return {
    update(rows) {
      const now = performance.now();
      if (now - told < LINE_EVERY_MS) return;
      told = now;
      const rate = rows / seconds(start);
      const left = total === null ? '' : `, ${count((total - rows) / rate)} s left`;
      const of = total === null ? '' : ` of ${count(total)}`;
      stderr.write(
        `${verb} ${counted(total ?? rows, 'row', 'rows', `${count(rows)}${of}`)}, ${count(rate)} a second${left}\n`,
      );
    },
    stop() {},
  };
}

function seconds(start: number): number {
  return (performance.now() - start) / 1000;
}

/** `1 row`, `1,234 rows`. */
export function rowsOf(rows: number): string {
  return counted(rows, 'row', 'rows', count(rows));
}

/** `1,234,567`. The platform's own formatting would load large tables. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}
