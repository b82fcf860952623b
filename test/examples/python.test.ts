import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { anApplication, testService } from '../support/service.ts';
import { EXAMPLES, missing, run, temporaryFile, troubledProxy } from './support.ts';

const SCRIPT = join(EXAMPLES, 'submit.py');
const service = await testService();

async function registered(partnerId: PartnerId): Promise<string[]> {
  const { rows } = await service.database.query(
    'SELECT decision FROM applications WHERE partner_id = $1 ORDER BY id',
    [partnerId],
  );
  return rows.map(({ decision }) => decision);
}

const batchFile = (name: string, applications: readonly unknown[]) =>
  temporaryFile(name, JSON.stringify({ applications }));
const submit = (file: string, url: string, apiKey: string) => run('python3', [SCRIPT, file], { url, apiKey });

describe('examples/submit.py', { skip: missing('python3'), concurrency: 2 }, () => {
  it('takes the file of submit.ts, and tells the same of it', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const file = batchFile('dev.json', [
      anApplication({ id_number: ' 77 ' }),
      anApplication({ id_number: 78, city: '' }),
      'no application',
      anApplication({ id_number: `1${'0'.repeat(80)}` }),
      anApplication({ phone: '+9900202' }),
    ]);
    const url = `${service.url}/DEV`;
    const python = await submit(file, url, apiKey);
    const script = await run(process.execPath, [join(EXAMPLES, 'submit.ts'), file], { url, apiKey });
    assert.deepEqual([python.code, script.code], [2, 2], python.err + script.err);
    assert.equal(python.out.replaceAll('id None', 'id null'), script.out);
    assert.match(python.out, /^2 registered, 3 not$/m);
    assert.deepEqual(await registered(partnerId), []);
  });

  it('registers on PRO in batches of at most 100, and gives each row its outcome, also with repeated and absent ID numbers', async () => {
    const { partnerId, apiKey } = await service.addPartner({ language: 'es' });
    const same = { id_number: '77' };
    const applications = [
      ...Array.from({ length: 120 }, () => anApplication()),
      anApplication(same),
      anApplication({ ...same, city: null }),
      anApplication({ ...same, messaging_optin: 'yes' }),
      anApplication(same),
      anApplication({ id_number: null }),
      anApplication({ id_number: null, debt_amount: 900_000_000 }),
    ];
    const proxy = await troubledProxy(service.url, []);
    const { code, out } = await submit(batchFile('many.json', applications), `${proxy.url}/PRO`, apiKey);
    assert.equal(code, 2);
    const lines = out.trim().split('\n');
    const notRegistered = lines.flatMap((line) => /^application (\d+): not registered/.exec(line)?.[1] ?? []);
    assert.deepEqual(notRegistered, ['122', '123', '125', '126']);
    assert.equal(lines.at(-1), '122 registered, 4 not');
    assert.equal((await registered(partnerId)).length, 122);
    assert.equal(proxy.requests.length, 6);
  });

  it('registers nobody without a phone twice, neither after a lost answer nor in another run', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const row = anApplication({ phone: null });
    const file = batchFile('lost.json', [row, row, anApplication({ phone: null })]);
    const proxy = await troubledProxy(service.url, ['lost answer', 'none', 'lost answer']);
    const first = await submit(file, `${proxy.url}/PRO`, apiKey);
    const second = await submit(file, `${proxy.url}/PRO`, apiKey);
    assert.deepEqual([first.code, second.code], [0, 0]);
    assert.equal(second.out, first.out);
    assert.equal(proxy.requests.length, 2 + 2 + 2);
    assert.equal((await registered(partnerId)).length, 3);
  });

  it('tells a file that is not there in one line', async () => {
    const { code, err } = await submit('nowhere.json', `${service.url}/DEV`, 'x');
    assert.equal(code, 1);
    assert.match(err, /^[Ee]rror: .*nowhere.*\n$/);
  });

  it('waits as long as Retry-After says', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const proxy = await troubledProxy(service.url, [{ status: 500, headers: { 'Retry-After': '2' } }]);
    const { code } = await submit(batchFile('wait.json', [anApplication()]), `${proxy.url}/PRO`, apiKey);
    assert.equal(code, 0);
    const [first, second] = proxy.requests;
    assert.ok(second!.atMs - first!.atMs >= 1_950);
    assert.equal(first!.idempotencyKey, second!.idempotencyKey);
    assert.equal((await registered(partnerId)).length, 1);
  });

  for (const [what, trouble] of [
    ['a refusal', { status: 401 }],
    ['a redirect, which would take the key elsewhere', { status: 302, headers: { Location: '/DEV' } }],
  ] as const) {
    it(`fails at once on ${what}`, async () => {
      const { apiKey } = await service.addPartner();
      const proxy = await troubledProxy(service.url, [trouble]);
      const file = batchFile(`refused-${trouble.status}.json`, [anApplication()]);
      const { code, err } = await submit(file, `${proxy.url}/PRO`, apiKey);
      assert.equal(code, 1);
      assert.match(err, new RegExp(`HTTP ${trouble.status}`));
      assert.equal(proxy.requests.length, 1);
    });
  }

  it('says what is missing, and never shows an invalid key', async () => {
    const file = join(EXAMPLES, 'batch.json');
    const url = `${service.url}/DEV`;
    for (const variables of [{ url }, { apiKey: 'vtn_all_x' }, { url, apiKey: 'vtn_all_a\nb' }]) {
      const { code, err } = await run('python3', [SCRIPT, file], variables);
      assert.equal(code, 1);
      assert.match(err, /VENTANILLA_API_KEY/);
    }
  });
});
