/** The report of a run: a page with plots that needs nothing from outside, and the same figures as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Slope } from '../heap.ts';
import type { Ran } from '../run.ts';
import type { Watch } from '../watch.ts';
import { barPlot, escapeText, linePlot } from './plot.ts';
import { type Line, quantile, seriesOf } from './series.ts';

export interface Reported extends Omit<Ran, 'watch' | 'violations'> {
  readonly watch: Pick<Watch, 'memory' | 'waiting' | 'slowest' | 'latenessMs'>;
  readonly seed: number;
  readonly minutes: number;
  /** The command that repeats the run. */
  readonly again: string;
  readonly slopes: readonly Slope[];
}

/** Writes `chaos-SEED.html` and `chaos-SEED.json` into a folder, and gives the path of the page. */
export function writeReport(folder: string, reported: Reported): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `chaos-${reported.seed}.html`);
  writeFileSync(path, pageOf(reported));
  writeFileSync(
    join(folder, `chaos-${reported.seed}.json`),
    `${JSON.stringify(figuresOf(reported), null, 2)}\n`,
  );
  return path;
}

/** The figures of a run, as JSON. Times are in milliseconds. */
function figuresOf({ recorder, watch, promises, counts, slopes, ...reported }: Reported) {
  const { seed, minutes, again } = reported;
  const ends = Map.groupBy(recorder.seen, ({ end }) => String(end));
  const answered = (ends.get('200') ?? []).map(({ ms }) => ms);
  return {
    ...{ seed, minutes, again },
    isKept: promises.areKept,
    counts: Object.fromEntries(counts),
    acknowledged: recorder.acknowledged,
    answers: Object.fromEntries([...ends].map(([end, of]) => [end, of.length])),
    answerMs: { p50: quantile(answered, 0.5), p99: quantile(answered, 0.99), most: quantile(answered, 1) },
    healthMs: watch.slowest,
    /** Of the timers of the run's own process, the 99th percentile: how busy the machine was. */
    lateMs: watch.latenessMs,
    mostMemoryMiB: Math.max(0, ...watch.memory.map(({ residentMiB }) => residentMiB)),
    heapSlopes: slopes,
    promises: promises.all,
    faults: recorder.marks,
    clockSteps: recorder.clockSteps,
    memory: watch.memory,
    waitingMessages: watch.waiting,
  };
}

function pageOf(reported: Reported): string {
  const { recorder, watch } = reported;
  const lengthMs = recorder.nowMs();
  const seconds = lengthMs / 1_000;
  const series = seriesOf(recorder, lengthMs);
  const memory = (pick: (sample: (typeof watch.memory)[number]) => number | null): Line[] =>
    [...Map.groupBy(watch.memory, ({ process }) => process)].map(([name, samples]) => ({
      name,
      points: samples.flatMap((sample) => {
        const value = pick(sample);
        return value === null ? [] : [[sample.atMs / 1_000, value] as const];
      }),
    }));
  const waiting = watch.waiting.map(({ atMs, count }) => [atMs / 1_000, count] as const);
  const plots = [
    { title: 'Registered', lines: series.registered },
    { title: 'Answers a second, by status', lines: series.answers },
    { title: 'Milliseconds to a 200', lines: series.latencies },
    { title: 'Messages that wait', lines: [{ name: 'messages', points: waiting }] },
    { title: 'Heap in MiB', lines: memory(({ heapMiB }) => heapMiB) },
    { title: 'Resident memory in MiB', lines: memory(({ residentMiB }) => residentMiB) },
  ].map((plot) => linePlot({ ...plot, seconds }));
  const bars = recorder.marks.map(({ name, fromMs, toMs }) => ({
    name,
    from: fromMs / 1_000,
    to: toMs / 1_000,
  }));
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Chaos run ${reported.seed}</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; color: #222; }
svg { width: 100%; margin: 0.5em 0; } text { font-size: 10px; fill: #222; }
td { padding: 0.1em 1em 0.1em 0; vertical-align: top; } .broken { color: #b91c1c; }
</style>
<h1>Chaos run, seed ${reported.seed}</h1>
<p><code>${escapeText(reported.again)}</code></p>
${summaryOf(reported)}
<h2>Faults</h2>
${barPlot(bars, seconds)}
<h2>What the clients saw</h2>
${plots.join('\n')}
</html>
`;
}

function summaryOf(reported: Reported): string {
  const { counts, acknowledged, answers, answerMs, heapSlopes, promises } = figuresOf(reported);
  const rows: (readonly [string, string])[] = [
    ...Object.entries(counts).map(([what, count]) => [what, String(count)] as const),
    ['applications acknowledged', acknowledged.toLocaleString('en-US')],
    [
      'answers',
      Object.entries(answers)
        .map(([end, count]) => `${end}: ${count}`)
        .join(', '),
    ],
    ['milliseconds to a 200', `${Math.round(answerMs.p50)} (p50), ${Math.round(answerMs.p99)} (p99)`],
    ...heapSlopes.map(
      ({ process, minutes, mibAnHour }) =>
        [
          `heap of ${process}`,
          `${mibAnHour.toFixed(1)} MiB an hour, over ${minutes.toFixed(0)} minutes`,
        ] as const,
    ),
  ];
  const kept = promises.map(({ text, looks, broken }) => {
    const verdict = broken.length === 0 ? 'kept' : `<b class="broken">broken ${broken.length} times</b>`;
    const examples = broken.slice(0, 5).map((one) => `<br>${escapeText(one)}`);
    return `<tr><td>${verdict}<td>${looks}<td>${escapeText(text)}${examples.join('')}`;
  });
  return `<table>${rows.map(([name, value]) => `<tr><td>${escapeText(name)}<td>${escapeText(value)}`).join('')}</table>
<h2>Promises</h2><table><tr><td><td>looks<td>${kept.join('')}</table>`;
}
