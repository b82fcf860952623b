/** docs/runbook.md has a section for each alert and each trouble of `status`. docs/monitoring.md names the series. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ConversationMeters } from '../../src/subjects/monitoring/metrics/conversation-meters.ts';
import { Meters } from '../../src/subjects/monitoring/metrics/meters.ts';
import { StoreSeries } from '../../src/subjects/monitoring/metrics/store-series.ts';
import { TROUBLE_CODES } from '../../src/subjects/monitoring/rules/trouble.ts';
import { REPOSITORY } from '../support/sources.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');
const RUNBOOK = read('docs/runbook.md');
const SECTIONS = RUNBOOK.split(/^## /m).slice(1);

test('each alert has a section in its order, with what it means, what to look at, what to do, and how it was tried', () => {
  const rules: { alert: string; annotations: { runbook: string } }[] = parse(
    read('deploy/monitoring/rules.yaml'),
  ).groups[0].rules;
  assert.deepEqual(
    SECTIONS.map((text) => text.split('\n')[0]),
    rules.map(({ alert }) => alert),
  );
  for (const { alert, annotations } of rules) {
    assert.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`);
  }
  for (const text of SECTIONS) {
    for (const part of ['- Look at: ', '- Do: ', '- Tried: ']) assert.ok(text.includes(part), text);
  }
});

test('each trouble of status has a section', () => {
  const named = SECTIONS.flatMap(
    (text) => /^- Status: (.*(?:\n {2}.*)*)/m.exec(text)?.[1]?.match(/`\w+`/g) ?? [],
  );
  assert.deepEqual(named.sort(), TROUBLE_CODES.map((code) => `\`${code}\``).sort());
});

test('docs/monitoring.md names every series of the program', async () => {
  const meters = new Meters();
  meters.watchLoad(() => ({ waiting: 0, atWork: 0, expectedMs: 0 }));
  meters.watchPools({});
  new StoreSeries(meters, '1.2.3');
  new ConversationMeters(meters);
  const names = (await meters.registry.getMetricsAsJSON()).map(({ name }) => name);
  // `a_b_c`, `_d` stands for a_b_c and a_b_d.
  const documented = [...read('docs/monitoring.md').matchAll(/^\| (`ventanilla.*?) \|/gm)].flatMap(
    ([, cell = '']) => {
      const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      return [first, ...others];
    },
  );
  const isNamed = (name: string) =>
    documented.some((one) => one === name || (one.startsWith('_') && name.endsWith(one)));
  assert.deepEqual(
    names.filter((name) => name.startsWith('ventanilla_') && !isNamed(name)),
    [],
  );
});
