/** `ventanilla partner`, `key` and `quota`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { isApiKey } from '../../src/subjects/partners/rules/api-key.ts';
import { Credentials } from '../../src/subjects/partners/sql/credentials.ts';
import { authenticator } from '../../src/subjects/partners/uses/authenticate.ts';
import { ensureDemoPartner } from '../../src/subjects/partners/uses/demo-partner.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { testPatience } from '../support/start-patiently.ts';
import { ACTOR, commandLine } from './harness.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const authenticate = authenticator(store.vault, new Credentials(store.database, store.vault), () => {});
/** The id of the demo partner. Processes that start together may each use up a number. */
let demo = '';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

test('processes that start together on an empty store make one demo partner', async () => {
  assert.equal((await run('partner', 'list', '--json')).out, '[]\n');
  const context = { ...store, actor: ACTOR };
  const made = (await Promise.all([1, 2, 3, 4].map(() => ensureDemoPartner(context, testPatience())))).filter(
    Boolean,
  );
  assert.equal(made.length, 1);
  assert.equal((await authenticate(made[0]?.apiKey, 'PRO'))?.partner.name, 'Demo');
  assert.equal((await authenticate(made[0]?.apiKey, 'DEV'))?.dailyCap, null);
  assert.equal(await ensureDemoPartner(context, testPatience()), null);
  demo = String((await json('partner', 'list'))[0].id);
  assert.equal((await json('quota', 'show', '--partner', demo)).partner.used_24h, 0);
});

test('partners are added and listed', async () => {
  const added = await json('partner', 'add', '--name', '  Acme  ', '--country', 'mx');
  assert.match(added.created_at, TIME);
  assert.deepEqual([added.name, added.country], ['Acme', 'MX']);
  const [newest] = await json('partner', 'list');
  assert.deepEqual(newest, added);
  const { rowCount } = await store.database.query('SELECT FROM usage_totals WHERE partner_id = $1', [
    added.id,
  ]);
  assert.equal(rowCount, 1);
  assert.match((await run('partner', 'list')).out, /^ID +NAME +COUNTRY +ADDED +CLOSED\n\d+ +Acme +MX /);
});

test('a key is shown once and stored nowhere', async () => {
  const issued = await json('key', 'issue', '--partner', demo, '--daily-cap', '5', '--environment', 'pro');
  assert.ok(isApiKey(issued.api_key));
  assert.deepEqual([issued.environment, issued.daily_cap, issued.language], ['PRO', 5, 'auto']);
  const told = await run('key', 'issue', '--partner', demo);
  assert.match(told.out, /shown only now/);
  const shown = /vtn_all_\w+/.exec(told.out)?.[0];
  assert.ok(shown !== undefined && isApiKey(shown));
  const [, listed] = await json('key', 'list', '--partner', demo);
  assert.deepEqual({ ...listed, api_key: issued.api_key }, issued);
  const { rows } = await store.database.query('SELECT k::text FROM api_keys k');
  const seen = [
    JSON.stringify(rows),
    (await run('key', 'list')).out,
    (await run('key', 'list', '--json')).out,
  ];
  for (const text of seen) {
    for (const key of [issued.api_key, shown]) assert.ok(!text.includes(key.slice(0, 16)));
    assert.ok(text.includes(issued.hint));
  }
});

test('a key keeps its language', async () => {
  const issued = await json('key', 'issue', '--partner', demo, '--language', 'es');
  assert.equal((await authenticate(issued.api_key, 'PRO'))?.language, 'es');
});

test('a key can be revoked once', async () => {
  const { id, api_key: apiKey } = await json('key', 'issue', '--partner', demo);
  const revoked = await json('key', 'revoke', `${id}`);
  assert.equal(revoked.status, 'revoked');
  assert.match(revoked.revoked_at, TIME);
  assert.equal(await authenticate(apiKey, 'PRO'), null);
  assert.deepEqual(await run('key', 'revoke', `${id}`), {
    code: 1,
    out: '',
    err: `error: key ${id} was revoked before\n`,
  });
  assert.match((await run('key', 'rotate', `${id}`)).err, /is revoked: it cannot be rotated/);
});

test('a rotated key has a successor with the same settings, and ends after the overlap', async () => {
  const first = await json('key', 'issue', '--partner', demo, '--daily-cap', '7', '--environment', 'DEV');
  const second = await json('key', 'rotate', `${first.id}`, '--overlap', '30m');
  const { id, hint, api_key, created_at, replaces, ...same } = second;
  assert.partialDeepStrictEqual(first, same);
  assert.ok(api_key.startsWith('vtn_dev_'));
  const left = new Date(replaces.expires_at).getTime() - new Date(created_at).getTime();
  assert.equal(left, 30 * 60_000);
  for (const key of [first, second]) assert.notEqual(await authenticate(key.api_key, 'DEV'), null);
  // A second rotation does not prolong the overlap of the first.
  const again = await json('key', 'rotate', `${first.id}`);
  assert.equal(again.replaces.expires_at, replaces.expires_at);
  await json('key', 'rotate', `${second.id}`, '--overlap', '0');
  assert.equal(await authenticate(second.api_key, 'DEV'), null);
  assert.match((await run('key', 'rotate', `${second.id}`)).err, /is expired: it cannot be rotated/);
});

test('a cap can be set, and quota show says what remains for each key', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Quota', '--country', 'CO');
  const capped = await json('key', 'issue', '--partner', `${partner}`, '--daily-cap', '2');
  const open = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  await register(
    open.id,
    ['1', '2', '3'].map((digit) => applicant({ phone: toPhone(`+57300000000${digit}`) })),
  );
  const remaining = async () => {
    const quota = await json('quota', 'show', '--partner', `${partner}`);
    assert.deepEqual([quota.partner.used_24h, quota.window], [3, 'rolling_24h']);
    assert.match(quota.fetched_at, TIME);
    return quota.keys.map((key: { remaining: number }) => key.remaining);
  };
  assert.deepEqual(await remaining(), [null, 0]);
  assert.equal((await json('key', 'set', `${capped.id}`, '--daily-cap', '10')).daily_cap, 10);
  assert.deepEqual(await remaining(), [null, 7]);
  assert.equal((await json('key', 'set', `${capped.id}`, '--daily-cap', 'none')).daily_cap, null);
  assert.deepEqual(await remaining(), [null, null]);
  await json('key', 'revoke', `${open.id}`);
  assert.deepEqual(await remaining(), [null]);
  assert.match((await run('quota', 'show', '--partner', `${partner}`)).out, /used 3 applications/);
});

const REFUSED: readonly (readonly [line: string, code: number, message: RegExp])[] = [
  ['', 2, /Usage: ventanilla/],
  ['parnter', 2, /unknown command 'parnter'/],
  ['partner', 2, /Usage: ventanilla partner/],
  ['partner add --name X', 2, /--country <code>' not specified/],
  ['partner add --name Acme --country MX', 1, /already a partner named Acme/],
  ['partner add --name X --country XX', 1, /two-letter ISO 3166/],
  [`partner add --country CO --name ${'x'.repeat(201)}`, 1, /1 to 200 characters/],
  ['partner add --country CO --name a\u0007b', 1, /control characters/],
  ['key issue', 2, /--partner <id>' not specified/],
  ['key issue --partner 99', 1, /no partner 99/],
  ['key issue --partner 99999999999', 1, /no partner 99999999999/],
  ['key issue --partner 1 --daily-cap -1', 2, /whole number from 0/],
  ['key issue --partner 1 --daily-cap 2147483648', 2, /whole number from 0/],
  ['key issue --partner 1 --environment test', 2, /one of: PRO, DEV/],
  ['key issue --partner 1 --language fr', 2, /one of: auto, en, es/],
  ['key list --partner 99', 1, /no partner 99/],
  ['key revoke x', 2, /whole number from 1/],
  ['key revoke 0', 2, /whole number from 1/],
  ['key revoke 99', 1, /no key 99/],
  ['key rotate 99', 1, /no key 99/],
  ['key rotate 1 --overlap 31d', 2, /at most 30d/],
  ['key rotate 1 --overlap 5', 2, /30m, 24h or 7d/],
  ['key set 1', 2, /--daily-cap <n>' not specified/],
  ['key set 99 --daily-cap 1', 1, /no key 99/],
  ['quota show --partner 99', 1, /no partner 99/],
  ['migrate now', 2, /too many arguments/],
  ['migrate --status --distribute', 2, /cannot be used with option '--status'/],
];
for (const [line, code, message] of REFUSED) {
  test(`refused with ${code}: ${line.slice(0, 60) || '(nothing)'}`, async () => {
    const result = await run(...line.split(' ').filter(Boolean));
    assert.deepEqual([result.code, result.out], [code, '']);
    assert.match(result.err, message);
  });
}
