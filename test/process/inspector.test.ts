/** SIGUSR1 at a running service: Node would open its inspector, through which anybody here reads all secrets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDataDir, nodeStart, npmStart, startService } from './support.ts';

const SIGNALS = 5;

for (const [what, start] of [
  ['npm start', npmStart],
  ['the program by its name', nodeStart],
] as const) {
  test(`${what}: the signal opens no inspector and ends nothing`, async () => {
    const service = await startService(newDataDir(), { LOG_LEVEL: 'silent' }, start);
    for (let sent = 0; sent < SIGNALS; sent += 1) {
      process.kill(service.nodePid, 'SIGUSR1');
      assert.equal((await fetch(`${service.opsUrl}/healthz`)).status, 200);
    }
    const { code, err } = await service.stop();
    assert.equal(code, 0);
    assert.doesNotMatch(err, /debugger/i);
  });
}
