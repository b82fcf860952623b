import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../src/partners/rules/credential.ts';
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

/** A file with the columns of the first application; null is an empty cell. */
function csvFile(name: string, applications: readonly Record<string, unknown>[]): string {
  const columns = Object.keys(applications[0]!);
  const cell = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`;
  const rows = applications.map((application) => columns.map((column) => cell(application[column])));
  return temporaryFile(name, [columns, ...rows].map((cells) => `${cells.join(',')}\r\n`).join(''));
}

const submit = (file: string, url: string, apiKey: string) => run('python3', [SCRIPT, file], { url, apiKey });

describe('examples/submit.py', { skip: missing('python3'), concurrency: 2 }, () => {
  it('shows an outcome for each row of applicants.csv, and stores nothing on DEV', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const { code, out } = await submit(join(EXAMPLES, 'applicants.csv'), `${service.url}/DEV`, apiKey);
    assert.equal(code, 2);
    assert.deepEqual(out.trim().split('\n'), [
      'application 1: approved, score 100, id None',
      'application 2: in_review, score 60, id None',
      'application 3: rejected, score 26, id None',
      'application 4: approved, score 100, id None',
      'application 5: not registered: income is required and must be > 0 (numeric)',
      '4 registered, 1 not',
    ]);
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
    const { code, out } = await submit(csvFile('many.csv', applications), `${proxy.url}/PRO`, apiKey);
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
    const file = csvFile('lost.csv', [row, row, anApplication({ phone: null })]);
    const proxy = await troubledProxy(service.url, ['lost answer', 'none', 'lost answer']);
    const first = await submit(file, `${proxy.url}/PRO`, apiKey);
    const second = await submit(file, `${proxy.url}/PRO`, apiKey);
    assert.deepEqual([first.code, second.code], [0, 0]);
    assert.equal(second.out, first.out);
    assert.equal(proxy.requests.length, 2 + 2 + 2);
    assert.equal((await registered(partnerId)).length, 3);
  });

  it('tells a file that is not there in one line', async () => {
    const { code, err } = await submit('nowhere.csv', `${service.url}/DEV`, 'x');
    assert.equal(code, 1);
    assert.match(err, /^[Ee]rror: .*nowhere.*\n$/);
  });

  it('waits as long as Retry-After says', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const proxy = await troubledProxy(service.url, [{ status: 500, headers: { 'Retry-After': '2' } }]);
    const { code } = await submit(csvFile('wait.csv', [anApplication()]), `${proxy.url}/PRO`, apiKey);
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
      const file = csvFile(`refused-${trouble.status}.csv`, [anApplication()]);
      const { code, err } = await submit(file, `${proxy.url}/PRO`, apiKey);
      assert.equal(code, 1);
      assert.match(err, new RegExp(`HTTP ${trouble.status}`));
      assert.equal(proxy.requests.length, 1);
    });
  }

  it('says what is missing, and never shows an invalid key', async () => {
    const file = join(EXAMPLES, 'applicants.csv');
    const url = `${service.url}/DEV`;
    for (const variables of [{ url }, { apiKey: 'vtn_all_x' }, { url, apiKey: 'vtn_all_a\nb' }]) {
      const { code, err } = await run('python3', [SCRIPT, file], variables);
      assert.equal(code, 1);
      assert.match(err, /VENTANILLA_API_KEY/);
    }
  });
});
