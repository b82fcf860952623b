/** `npm run test:citus`: the tests of storage once more, on a Citus cluster that is started for them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CitusCluster, findCitus } from './support/citus-cluster.ts';

/** What runs there as it does on one machine. */
const FILES = [
  'storage/citus',
  'storage/clock',
  'storage/concurrency',
  'storage/envelope',
  'storage/registration',
  'storage/usage',
  'cli/application',
  'cli/listing',
].map((name) => `test/${name}.test.ts`);

const bin = findCitus();
if (bin === null) {
  process.stderr.write('error: Citus is not installed; CITUS_BIN names the folder of its PostgreSQL\n');
  process.exit(1);
}
const cluster = await CitusCluster.start(bin);
try {
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--test-concurrency=2',
      '--test-timeout=300000',
      '--test-global-setup=test/support/global-setup.ts',
      ...(process.argv.length > 2 ? process.argv.slice(2) : FILES),
    ],
    { stdio: 'inherit', env: { ...process.env, CITUS_BIN: bin, TEST_DATABASE_URL: cluster.machines()[0] } },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  cluster.stop();
}
