/** A real Prometheus with the rules of deploy/monitoring. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { REPOSITORY } from './sources.ts';

export const MONITORING = join(REPOSITORY, 'deploy/monitoring');

/** For `skip`: why these tests cannot run here, or false. */
export const withoutPrometheus =
  ['prometheus', 'promtool'].some((name) => spawnSync(name, ['--version']).status !== 0) &&
  'no prometheus and promtool are installed (apt-get install prometheus)';

/** How often it scrapes and looks at the rules; the longest wait for a scrape. */
export const LOOK_MS = 2_000;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
}

export interface Prometheus {
  /** The samples of a query now. Throws where Prometheus refuses the query. */
  query(query: string): Promise<readonly Sample[]>;
  /** The names of all series so far. */
  names(): Promise<readonly string[]>;
  /** The alerts that have fired so far. */
  fired(): Promise<readonly string[]>;
}

/**
 * Starts it on the targets, `host:port` each. It ends with the tests. Without the `for` of the rules, an alert fires at
 * once.
 */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-prometheus-'));
  const rules = readFileSync(join(MONITORING, 'rules.yaml'), 'utf8').replace(/^ +for: .*\n/gm, '');
  writeFileSync(join(folder, 'rules.yaml'), rules);
  const look = `${LOOK_MS}ms`;
  const config = {
    global: { scrape_interval: look, scrape_timeout: look, evaluation_interval: look },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'ventanilla', static_configs: [{ targets }] }],
  };
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const port = await freePort();
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const program = spawn('prometheus', args, { stdio: 'ignore' });
  after(async () => {
    if (program.exitCode === null) {
      program.kill('SIGKILL');
      await once(program, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('Prometheus', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: T; error?: string };
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  const query = async (text: string) =>
    (await ask<{ result: readonly Sample[] }>(`query?query=${encodeURIComponent(text)}`)).result;
  return {
    query,
    names: () => ask('label/__name__/values'),
    fired: async () => {
      const alerts = await query('max_over_time(ALERTS{alertstate="firing"}[10m])');
      return [...new Set(alerts.map(({ metric }) => metric.alertname ?? ''))].sort();
    },
  };
}
