/**
 * `npm run test:citus`: runs the tests of the store again on a Citus cluster that it starts: first with all sessions on
 * the coordinator, then with all sessions on a worker. Paths of test files run these files only. `--machine 0` or `1`
 * runs them on that machine only.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CitusCluster, findCitus } from './support/citus-cluster.ts';

/** Every test in these folders runs there, also a new one. */
const FOLDERS = [
  ...['applications', 'messages', 'partners', 'events', 'monitoring'],
  ...['conversation', 'documents', 'income', 'signing', 'rights'],
  ...['policies', 'evaluation', 'business', 'reconsiderations'],
  ...['desk', 'operators', 'operator-api'],
  ...['app', 'citus', 'cli', 'postgres', 'scale', 'schema', 'seal', 'vault'],
];

/** These tests do not run there, because they would do the same as on one machine or are about something else. */
const EXCEPT: Readonly<Record<string, string>> = {
  '*/rules/*': 'reach no store',
  'app/config': 'reaches no store',
  'app/endings': 'about restores of the embedded store',
  'app/erased-spellings': 'about restores of the embedded store',
  'app/lifetime': 'reaches no store',
  'app/no-store': 'makes databases of one machine',
  'app/patient-start': 'about the start on a server of one machine',
  'app/prepare-tables': 'about the roles of one server',
  'app/reindexed-restore': 'about restores of the embedded store',
  'app/restored-twice': 'about restores of the embedded store',
  'applications/facts': 'reads bytes that it has made itself',
  'cli/program': 'reaches no store',
  'documents/layouts': 'reaches no store',
  'documents/reader': 'reaches no store',
  'documents/scan': 'reaches no store',
  'documents/store': 'about files; documents/receive and documents/operate have the statements',
  'cli/terminal': 'starts whole programs, with the server that comes along',
  'events/push/endpoint-url': 'reaches no store',
  'events/push/lookup': 'reaches no store',
  'events/push/sender': 'reaches no store',
  'events/push/sign': 'reaches no store',
  'income/belvo': 'reaches no store',
  'income/judge-income': 'reaches no store',
  'messages/channels/*': 'reach no store',
  'messages/review-interleavings':
    'hundreds of stories, which take minutes there; messages/messages-after-review has their statements',
  'messages/routes/*': 'about HTTP; messages/channel-events has the statements',
  'monitoring/prometheus': 'about Prometheus; monitoring/status has the statements',
  'monitoring/runbook': 'reaches no store',
  'monitoring/scrape': 'reaches no store',
  'monitoring/troubles': 'reaches no store',
  'policies/pmml': 'reaches no store',
  'policies/pmml-import': 'reaches no store',
  'postgres/await-server': 'starts servers of its own',
  'postgres/hosts': 'starts servers of its own',
  'postgres/pgbouncer': 'a pooler before one server',
  'postgres/session-settings': 'about the defaults of one server; a cluster has settings of the roles',
  'postgres/standby': 'starts servers of its own',
  'postgres/transaction': 'makes a trigger on a distributed table itself, which Citus refuses',
  'scale/many-partitions': 'makes its partitions itself, and counts the locks of one server',
  'reconsiderations/words': 'reaches no store',
  'schema/runtime-role': 'about the roles of one server; all tests there have sessions of the runtime role',
  'schema/migrations': 'about files that are no part of the schema',
  'seal/random-bytes': 'reaches no store',
  'seal/secrets': 'about a file; the store is one of any kind',
  'postgres/server-language': 'makes a trigger on a distributed table itself, which Citus refuses',
  'seal/vault': 'reaches no store',
  'signing/check-terms': 'reaches no store',
  'signing/code-senders': 'reaches no store',
  'signing/pdf': 'reaches no store',
};

/** These tests run with sessions on the coordinator only. */
const NOT_ON_WORKERS: Readonly<Record<string, string>> = {
  'app/erasures': 'adds erasures itself, whose numbers the coordinator gives',
  'applications/clock': 'puts another clock before the functions of one server',
  'applications/envelope': 'takes numbers of batches itself',
  'applications/leads': 'takes numbers of batches itself',
  'applications/partitions': 'replaces functions of the schema itself',
  'applications/refused-receipts': 'reads the number of the last batch itself',
  'applications/retention-kept': 'makes a trigger itself',
  'citus/citus': 'starts a cluster of its own, with services on every machine',
  'citus/citus-machines': 'the same',
  'citus/documented': 'the same',
  'citus/restore-point': 'the same',
  'citus/machine-lost': 'makes a trigger itself',
  'desk/applying': 'asks one server for its sessions',
  'desk/notes': 'asks one server which of its sessions wait',
  'documents/clock': 'puts another clock before the functions of one server',
  'evaluation/shadow': 'takes numbers of batches itself',
  'events/push/clock': 'puts another clock before the functions of one server',
  'messages/channel-notices': 'makes a trigger itself',
  'messages/fair-turns': 'replaces functions of the schema itself',
  'messages/lock-order': 'asks one server which of its sessions wait',
  'postgres/faked-clock': 'puts another clock before the functions of one server',
  'reconsiderations/clock': 'puts another clock before the functions of one server',
  'reconsiderations/hear': 'renames a function of the schema itself',
  'rights/erase-*': 'erase, which needs the coordinator',
  'rights/replay-erasures': 'the same',
  'rights/runtime-role': 'the same',
  'rights/subject-erase': 'the same',
  'scale/large-store': 'takes numbers of batches itself',
};

for (const name of Object.keys({ ...EXCEPT, ...NOT_ON_WORKERS })) {
  if (globSync(`test/${name}.test.ts`).length === 0)
    throw new Error(`test/citus.ts names ${name}, which is no test`);
}

const MACHINES = ['the coordinator', 'a worker'];

const { values, positionals } = parseArgs({
  options: { machine: { type: 'string' } },
  allowPositionals: true,
});

function filesOn(machine: number): string[] {
  if (positionals.length > 0) return positionals;
  const left = [...Object.keys(EXCEPT), ...(machine === 0 ? [] : Object.keys(NOT_ON_WORKERS))];
  return globSync(
    FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
    { exclude: left.map((name) => `test/${name}.test.ts`) },
  ).sort();
}

const bin = findCitus();
if (bin === null) {
  process.stderr.write(
    "error: Citus is not installed. Set CITUS_BIN to the folder of its PostgreSQL's programs\n",
  );
  process.exit(1);
}

async function run(url: string, files: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run/main.ts'), ...files], {
    stdio: 'inherit',
    env: { ...process.env, CITUS_BIN: bin as string, TEST_DATABASE_URL: url },
  });
  const stop = (signal: NodeJS.Signals) => {
    stopped = true;
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

let stopped = false;
const cluster = await CitusCluster.start(bin);
try {
  for (const [machine, what] of MACHINES.entries()) {
    if (stopped || (values.machine !== undefined && values.machine !== `${machine}`)) continue;
    process.stdout.write(`sessions on ${what}\n`);
    const code = await run(cluster.machines()[machine] as string, filesOn(machine));
    if (code !== 0) process.exitCode = code;
  }
} finally {
  cluster.stop();
}
