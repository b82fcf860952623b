import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { anApplication, testService } from '../support/service.ts';
import { EXAMPLES, run, temporaryFile, troubledProxy } from './support.ts';

const SCRIPT = join(EXAMPLES, 'submit.ts');
const service = await testService();

async function registered(partnerId: PartnerId): Promise<number> {
  const { rows } = await service.database.query(
    'SELECT count(*)::int AS count FROM applications WHERE partner_id = $1',
    [partnerId],
  );
  return rows[0].count;
}

const submit = (file: string, url: string, apiKey: string) =>
  run(process.execPath, [SCRIPT, file], { url, apiKey });
const batchFile = (name: string, applications: readonly unknown[]) =>
  temporaryFile(name, JSON.stringify({ applications }));

describe('examples/submit.ts', { concurrency: 2 }, () => {
  it('tells a file that is not there in one line', async () => {
    const { code, err } = await submit('nowhere.json', `${service.url}/DEV`, 'x');
    assert.equal(code, 1);
    assert.match(err, /^[Ee]rror: .*nowhere.*\n$/);
  });

  it('shows an outcome for each application, at its place, and stores nothing on DEV', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const applications = [
      anApplication(),
      anApplication({ city: '', phone: '+9900409' }),
      anApplication({ phone: '+9900409' }),
      anApplication({ phone: '+9900429' }),
      anApplication({ phone: '+9900202' }),
    ];
    const { code, out } = await submit(batchFile('dev.json', applications), `${service.url}/DEV`, apiKey);
    assert.equal(code, 2);
    assert.deepEqual(out.trim().split('\n'), [
      'application 1: approved, score 100, id null',
      'application 2: not registered: city is required',
      'application 3: not registered: a request already exists for this messaging-channel number',
      'application 4: not registered: the quota of 100 a day is used up',
      'application 5: in_review, score 55, id null',
      '2 registered, 3 not',
    ]);
    assert.equal(await registered(partnerId), 0);
  });

  it('registers nobody without a phone twice, neither after a lost answer nor in another run', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const applications = Array.from({ length: 150 }, () => anApplication({ phone: null }));
    const file = batchFile('lost.json', applications);
    const proxy = await troubledProxy(service.url, ['lost answer']);
    const first = await submit(file, `${proxy.url}/PRO`, apiKey);
    const second = await submit(file, `${proxy.url}/PRO`, apiKey);
    assert.deepEqual([first.code, second.code], [0, 0]);
    assert.equal(second.out, first.out);
    assert.equal(await registered(partnerId), 150);
    assert.equal(proxy.requests.length, 3 + 2);
  });

  it('fails at once where the key is wrong or a variable is missing', async () => {
    const file = batchFile('one.json', [anApplication()]);
    const url = `${service.url}/PRO`;
    const refused = await submit(file, url, `vtn_all_${'0'.repeat(48)}`);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /AuthenticationError/);
    const { code, err } = await run(process.execPath, [SCRIPT, file], { url });
    assert.equal(code, 1);
    assert.match(err, /VENTANILLA_API_KEY/);
  });
});
