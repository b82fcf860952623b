/** The demo: what it shows, and where it stops. Its way to a signed contract needs the service with all its parts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { DemoError } from '../../examples/demo/service.ts';
import { untilSigned } from '../../examples/demo/until-signed.ts';
import { testService } from '../support/service.ts';
import { REPOSITORY } from '../support/sources.ts';

const run = promisify(execFile);
const dataDir = await mkdtemp(join(tmpdir(), 'ventanilla-demo-'));
const service = await testService({ DELIVERY: 'on', DATA_DIR: dataDir });
after(() => rm(dataDir, { recursive: true }));
const { apiKey } = await service.addPartner();
const page = `${service.opsUrl}/simulator`;

function demo(options: string[], changes: Record<string, string> = {}) {
  const env = {
    ...process.env,
    ...{ VENTANILLA_URL: `${service.url}/PRO`, VENTANILLA_API_KEY: apiKey, VENTANILLA_SIMULATOR_URL: page },
    ...changes,
  };
  return run(process.execPath, ['examples/demo.ts', ...options], { cwd: REPOSITORY, env }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('npm run demo', { timeout: 240_000 }, () => {
  it('shows the outcome of each application of the example', async () => {
    const { code, stdout } = await demo([]);
    assert.equal(code, 0);
    assert.match(stdout, /approved \d+, in_review \d+, rejected \d+, error \d+: \d+ registered, \d+ not/);
  });

  it('names its options where it does not know one', async () => {
    for (const options of [['--until'], ['--until', 'paid'], ['signed'], ['--until', 'signed', 'x']]) {
      const { code, stderr } = await demo(options);
      assert.deepEqual([code, /--until signed/.test(stderr)], [1, true]);
    }
  });

  it('says what to start where no page of the simulator answers', async () => {
    const { code, stderr } = await demo(['--until', 'signed'], {
      VENTANILLA_SIMULATOR_URL: 'http://127.0.0.1:1/simulator',
    });
    assert.equal(code, 1);
    assert.match(stderr, /CHANNEL=simulator/);
  });

  it('goes from a batch to a signed contract, and again beside the first one', async () => {
    for (let run = 1; run <= 2; run += 1) {
      const { code, stdout, stderr } = await demo(['--until', 'signed']);
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      assert.match(stdout, /^signed +the contract of application \d+/m);
    }
  });

  it('says which step did not come, and where to look', async () => {
    const url = new URL(`${service.url}/PRO`);
    await assert.rejects(
      untilSigned(url, apiKey, page, 1),
      (error: Error) =>
        error instanceof DemoError && /did not come.*offer.*application show \d+/.test(error.message),
    );
  });
});
