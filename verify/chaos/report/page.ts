/** The page of a run: what was done, which promises were kept, and plots over the time of the run. */
import type { Figures, Reported } from './figures.ts';
import { barPlot, escapeText, linePlot } from './plot.ts';
import { type Line, seriesOf } from './series.ts';

const EXAMPLES = 5;

const STYLE = `
body { font: 14px/1.4 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; color: #222; }
svg { width: 100%; margin: 0.5em 0; } text { font-size: 10px; fill: #222; }
td, th { padding: 0.1em 1em 0.1em 0; vertical-align: top; text-align: left; }
.broken { color: #b91c1c; } .unseen { color: #666; }`;

export function pageOf(reported: Reported, figures: Figures): string {
  const { seed, minutes, again, recorder } = reported;
  const seconds = recorder.nowMs() / 1_000;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Chaos run ${seed}</title>
<style>${STYLE}</style>
<h1>Chaos run, seed ${seed}: ${verdictOf(figures)}</h1>
<p>For ${minutes} minutes partners sent batches, operators reviewed applications and workers sent messages, while the
faults below were done to the service. Then everything came to its end, and a checker compared what all clients saw with
what the store has. This command repeats the run:</p>
<p><code>${escapeText(again)}</code></p>
${tableOf(figures)}
<h2>Promises</h2>
${promisesOf(figures)}
<h2>Faults</h2>
<p>A bar lasts from the beginning of a fault until the service had what it needs again. The number of times stands in
brackets.</p>
${barPlot(barsOf(reported), seconds)}
<h2>What the clients saw</h2>
<p>A status is that of an answer; "closed" is a connection that ended without one, so that the client asks again.</p>
${plots(seconds, clientPlots(reported))}
<h2>Memory of the programs</h2>
<p>A line goes on after a restart. The teeth are garbage that is collected from time to time.</p>
${plots(seconds, memoryPlots(reported))}
</html>
`;
}

function verdictOf({ promises }: Figures): string {
  const broken = promises.filter((one) => one.broken.length > 0).length;
  if (broken === 0) return 'all promises were kept';
  return `<span class="broken">${broken} of ${promises.length} promises were broken</span>`;
}

function tableOf({ counts, acknowledged, answers, answerMs, heapSlopes }: Figures): string {
  const ends = Object.entries(answers).map(([end, count]) => `${end}: ${count.toLocaleString('en-US')}`);
  const rows: (readonly [string, string])[] = [
    ...Object.entries(counts).map(([what, count]) => [what, String(count)] as const),
    ['applications acknowledged', acknowledged.toLocaleString('en-US')],
    ['answers by status', ends.join(', ')],
    ['milliseconds to a 200', `${Math.round(answerMs.p50)} (p50), ${Math.round(answerMs.p99)} (p99)`],
    ...heapSlopes.map(
      ({ process, minutes, mibAnHour }) =>
        [
          `heap of ${process}`,
          `${mibAnHour.toFixed(1)} MiB an hour, over ${minutes.toFixed(0)} minutes`,
        ] as const,
    ),
  ];
  const lines = rows.map(([name, value]) => `<tr><td>${escapeText(name)}<td>${escapeText(value)}`);
  return `<table>${lines.join('')}</table>`;
}

function promisesOf({ promises }: Figures): string {
  const rows = promises.map(({ text, looks, broken }) => {
    const examples = broken.slice(0, EXAMPLES).map((one) => `<br>${escapeText(one)}`);
    return `<tr><td>${shownEnd(looks, broken.length)}<td>${looks.toLocaleString('en-US')}<td>${escapeText(text)}${examples.join('')}`;
  });
  return `<table><tr><th>Verdict<th>Times checked<th>Promise${rows.join('')}</table>`;
}

function shownEnd(looks: number, broken: number): string {
  if (broken > 0) return `<b class="broken">broken ${broken} times</b>`;
  return looks > 0 ? 'kept' : '<span class="unseen">not checked</span>';
}

function barsOf({ recorder }: Reported) {
  return recorder.marks.map(({ name, fromMs, toMs }) => ({ name, from: fromMs / 1_000, to: toMs / 1_000 }));
}

interface Titled {
  readonly title: string;
  readonly lines: readonly Line[];
}

function plots(seconds: number, titled: readonly Titled[]): string {
  return titled.map((plot) => linePlot({ ...plot, seconds })).join('\n');
}

function clientPlots({ recorder, watch }: Reported): Titled[] {
  const series = seriesOf(recorder, recorder.nowMs());
  const waiting = watch.waiting.map(({ atMs, count }) => [atMs / 1_000, count] as const);
  return [
    { title: 'Registered', lines: series.registered },
    { title: 'Answers a second, by status', lines: series.answers },
    { title: 'Milliseconds to a 200', lines: series.latencies },
    { title: 'Messages that wait for the channel', lines: [{ name: 'messages', points: waiting }] },
  ];
}

type Sample = Reported['watch']['memory'][number];

function memoryPlots({ watch }: Reported): Titled[] {
  const lines = (pick: (sample: Sample) => number | null): Line[] =>
    [...Map.groupBy(watch.memory, ({ process }) => process)].map(([name, samples]) => ({
      name,
      points: samples.flatMap((sample) => {
        const value = pick(sample);
        return value === null ? [] : [[sample.atMs / 1_000, value] as const];
      }),
    }));
  return [
    { title: 'Heap in use, MiB', lines: lines(({ heapMiB }) => heapMiB) },
    { title: 'Resident memory, MiB', lines: lines(({ residentMiB }) => residentMiB) },
  ];
}
