/** The report of a chaos run: a page that a browser shows with nothing from outside, and its figures as JSON. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, mock, test } from 'node:test';
import { DESKTOP, skip, testBrowser } from '../../../test/support/browser.ts';
import type { Call } from '../../history/history.ts';
import { Promises } from '../promises.ts';
import { Recorder } from '../recorder.ts';
import { writeReport } from './report.ts';

const HOSTILE = '<script>alert("& broken")</script>';
const SECONDS = 20;

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-report-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function call(atMs: number, ms: number, status: number | null): Call {
  const outcome = { kind: 'registered', id: 128 + atMs, score: 80, decision: 'approved' } as const;
  const outcomes = status === 200 ? [{ ...outcome, status: 'pending_signature' as const }] : null;
  const answer = status === null ? null : { status, isReplay: false, digest: '', outcomes };
  return { fromMs: atMs - ms, toMs: atMs, answer };
}

/** A run of 20 s: two answers a second, every tenth a 500, and one closed connection. */
function reported() {
  const recorder = new Recorder();
  mock.method(recorder, 'nowMs', () => SECONDS * 1_000);
  for (let place = 1; place < SECONDS * 2; place += 1) {
    recorder.noteCall(call(place * 500, 10 + place, place % 10 === 0 ? 500 : 200));
  }
  recorder.noteCall(call(19_900, 50, null));
  recorder.marks.push(
    { name: 'the disk is full', fromMs: 1_000, toMs: 3_000 },
    { name: HOSTILE, fromMs: 4_000, toMs: Number.POSITIVE_INFINITY },
  );
  const promises = new Promises();
  const complaints = mock.method(console, 'error', () => {});
  promises.hold('quota', true, () => '');
  for (let place = 0; place < 7; place += 1) promises.hold('phones', false, () => `${HOSTILE} ${place}`);
  complaints.mock.restore();
  const memory = Array.from({ length: SECONDS }, (_, second) => ({
    ...{ atMs: second * 1_000, process: 'service-1', pid: 1, residentMiB: 200 + second },
    heapMiB: second % 5 === 0 ? null : 80,
  }));
  const waiting = [{ atMs: 500, count: 3 }];
  return {
    ...{ seed: 7, minutes: 1, again: 'npm run chaos -- --seed 7', recorder, promises },
    watch: { memory, waiting, slowest: 12, latenessMs: 3 },
    counts: new Map([['kills of a program', 42]] as const),
    slopes: [{ process: 'service-1', minutes: 60, mibAnHour: -0.25 }],
  };
}

const page = writeReport(folder, reported());
const figures = JSON.parse(readFileSync(page.replace('.html', '.json'), 'utf8'));

test('the figures of a run are what was seen', () => {
  const { isKept, counts, acknowledged, answers, answerMs, mostMemoryMiB, heapSlopes, promises } = figures;
  assert.equal(isKept, false);
  assert.deepEqual(counts, { 'kills of a program': 42 });
  assert.equal(acknowledged, 36);
  assert.deepEqual(answers, { 200: 36, 500: 3, closed: 1 });
  assert.deepEqual(answerMs, { p50: 31, p99: 49, most: 49 });
  assert.equal(mostMemoryMiB, 219);
  assert.deepEqual(heapSlopes, [{ process: 'service-1', minutes: 60, mibAnHour: -0.25 }]);
  const looks = (name: string) => promises.find((one: { name: string }) => one.name === name);
  assert.equal(looks('phones').broken.length, 7);
  assert.deepEqual([looks('quota').looks, looks('quota').broken], [1, []]);
  assert.equal(looks('heap').looks, 0);
});

describe('the page of a run, in a browser', { skip }, async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(readFileSync(page));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const visit = testBrowser(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

  test('it shows the figures, each promise and each fault, and texts as they are', async () => {
    await visit(DESKTOP, async (shown) => {
      const text = await shown.locator('body').innerText();
      assert.match(text, /kills of a program\s+42/);
      assert.match(text, /heap of service-1\s+-0\.3 MiB an hour, over 60 minutes/);
      assert.match(text, /seed 7: 1 of \d+ promises were broken/);
      assert.match(text, /broken 7 times/);
      assert.match(text, /not checked\s+0\s+the heap of a process/);
      assert.match(text, /0 s\s*5 s\s*10 s\s*15 s\s*20 s/);
      for (const { text: promise } of figures.promises) assert.ok(text.includes(promise), promise);
      assert.ok(text.includes(`${HOSTILE} 4`));
      assert.equal(await shown.locator('script').count(), 0);
      const bars = await shown.locator('svg').first().innerHTML();
      assert.match(bars, /the disk is full \(1\)/);
    });
  });

  test('nothing of a plot lies outside of it', async () => {
    await visit(DESKTOP, async (shown) => {
      const outside = await shown.locator('svg').evaluateAll((plots) =>
        plots.map((plot) => {
          const frame = plot.getBoundingClientRect();
          const parts = [...plot.querySelectorAll('polyline, rect, text, path')];
          return parts.filter((part) => {
            const { left, right, top, bottom } = part.getBoundingClientRect();
            const slack = 1;
            return (
              left < frame.left - slack ||
              right > frame.right + slack ||
              top < frame.top - slack ||
              bottom > frame.bottom + slack
            );
          }).length;
        }),
      );
      assert.deepEqual(
        outside,
        Array.from({ length: 7 }, () => 0),
      );
      const lines = await shown
        .locator('polyline')
        .evaluateAll((all) => all.map((one) => one.getAttribute('points')));
      assert.ok(lines.length > 7);
      for (const points of lines) assert.match(points ?? '', /^(?:[\d.]+,[\d.]+ ?)*$/);
    });
  });
});
