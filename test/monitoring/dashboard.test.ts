/** The dashboard for Grafana shows every series of `/metrics`, and no panel lies on another one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MONITORING } from '../support/prometheus.ts';
import { testService } from '../support/service.ts';
import { seriesOf } from './series.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8')) as {
  panels: readonly Panel[];
};
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
/** A histogram has three series, and one of them is enough. */
const familyOf = (name: string) => name.replace(/_(bucket|sum|count)$/, '');

test('every series of the service is on the dashboard', async () => {
  const service = await testService({}, { upkeep: false });
  const text = await (await fetch(`${service.opsUrl}/metrics`)).text();
  const described = [...text.matchAll(/^# HELP (ventanilla_\w+) /gm)].map(([, name]) => name as string);
  const names = new Set([...seriesOf(text).map(({ name }) => familyOf(name)), ...described]);
  const own = [...names].filter((name) => name.startsWith('ventanilla_'));
  assert.ok(own.length > 30, `found only ${own.length} series`);
  assert.deepEqual(
    own.filter((name) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(shown)),
    [],
  );
});

test('each panel has a number and a place of its own, and a panel that is no row asks Prometheus', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const places = new Map<string, string>();
  for (const { title, type, gridPos, datasource, targets = [] } of panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x >= 0 && x + w <= 24, title);
    for (let column = x; column < x + w; column += 1)
      for (let line = y; line < y + h; line += 1) {
        assert.equal(places.get(`${column} ${line}`), undefined, title);
        places.set(`${column} ${line}`, title);
      }
    if (type === 'row') continue;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the dashboard
    assert.deepEqual(datasource, { type: 'prometheus', uid: '${datasource}' }, title);
    assert.ok(targets.length > 0, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
  }
});
