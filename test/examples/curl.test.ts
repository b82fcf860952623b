import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { anApplication, testService } from '../support/service.ts';
import { EXAMPLES, missing, run, temporaryFile, troubledProxy } from './support.ts';

const SCRIPT = join(EXAMPLES, 'submit.sh');
const service = await testService();

async function registered(partnerId: PartnerId): Promise<number> {
  const { rows } = await service.database.query(
    'SELECT count(*)::int AS count FROM applications WHERE partner_id = $1',
    [partnerId],
  );
  return rows[0].count;
}

const batchFile = (name: string, ...applications: unknown[]) =>
  temporaryFile(name, JSON.stringify({ applications }));

describe('examples/submit.sh', { skip: missing('curl'), concurrency: 2 }, () => {
  it('registers a batch on PRO and prints the answer', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const file = batchFile('two.json', anApplication(), anApplication());
    const { code, out } = await run(SCRIPT, [file], { url: `${service.url}/PRO`, apiKey });
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).processed, 2);
    assert.equal(await registered(partnerId), 2);
  });

  it('registers nothing on DEV; exit code 2 says that some applications were refused', async () => {
    const { partnerId, apiKey } = await service.addPartner({ language: 'es' });
    const file = batchFile('faulty.json', anApplication(), anApplication({ city: '' }));
    const { code, out } = await run(SCRIPT, [file], { url: `${service.url}/DEV`, apiKey });
    assert.equal(code, 2);
    assert.deepEqual([JSON.parse(out).procesados, JSON.parse(out).errores], [1, 1]);
    assert.equal(await registered(partnerId), 0);
  });

  it('registers nobody without a phone twice, neither after a lost answer nor in another run', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const file = batchFile('lost.json', anApplication({ phone: null }));
    const proxy = await troubledProxy(service.url, ['lost answer', { status: 500 }]);
    const url = `${proxy.url}/PRO`;
    const first = await run(SCRIPT, [file], { url, apiKey });
    const second = await run(SCRIPT, [file], { url, apiKey });
    assert.deepEqual([first.code, second.code], [0, 0]);
    assert.equal(second.out, first.out);
    assert.equal(proxy.requests.length, 4);
    assert.equal(new Set(proxy.requests.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    assert.equal(await registered(partnerId), 1);
  });

  it('fails at once where the key is wrong or a variable is missing', async () => {
    const file = batchFile('one.json', anApplication());
    const url = `${service.url}/PRO`;
    const apiKey = `vtn_all_${'0'.repeat(48)}`;
    const refused = await run(SCRIPT, [file], { url, apiKey });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /HTTP 401/);
    for (const [args, variables] of [
      [[], { url, apiKey }],
      [[file], { url }],
      [[file], { apiKey }],
      [[`${file}.absent`], { url, apiKey }],
    ] as const) {
      const { code, err } = await run(SCRIPT, args, variables);
      assert.notEqual(code, 0);
      assert.notEqual(err, '');
    }
  });
});
