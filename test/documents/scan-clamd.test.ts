/** A real clamd as the virus scanner. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { clamdScanner } from '../../src/subjects/documents/scan/clamd.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { hasClamd, startClamd, VIRUS, VIRUS_NAME } from './clamd.ts';

/** On a busy machine a scan may take longer than its minute. */
const clock = {
  ...machineClock,
  after: (_: number, ring: () => void) => machineClock.after(PATIENCE_MS, ring),
};

describe('a real clamd', {
  skip: !hasClamd && 'clamd is missing (apt-get install clamav-daemon)',
}, async () => {
  if (!hasClamd) return;
  const clamd = await startClamd();
  for (const [name, address] of [
    ['over TCP', clamd.address],
    ['over a socket', clamd.socket],
  ] as const) {
    const scan = clamdScanner(address, clock);
    it(`${name} finds what it knows and lets the rest pass`, async () => {
      assert.deepEqual(await scan(Buffer.from('hello')), { kind: 'clean' });
      assert.deepEqual(await scan(Buffer.alloc(0)), { kind: 'clean' });
      assert.deepEqual(await scan(randomBytes(5_000_000)), { kind: 'clean' });
      const infected = Buffer.concat([randomBytes(200_000), Buffer.from(VIRUS), randomBytes(10)]);
      assert.deepEqual(await scan(infected), { kind: 'infected', name: VIRUS_NAME });
    });
  }
  it('that takes less than the service says so, and lets nothing pass', async () => {
    const small = await startClamd(100_000);
    assert.deepEqual(await clamdScanner(small.address, clock)(randomBytes(1_000_000)), {
      kind: 'too_large',
    });
  });
  it('that is down is unavailable', async () => {
    const other = await startClamd();
    await other.stop();
    assert.equal((await clamdScanner(other.address, clock)(Buffer.of(1))).kind, 'unavailable');
    assert.equal((await clamdScanner(other.socket, clock)(Buffer.of(1))).kind, 'unavailable');
  });
});
