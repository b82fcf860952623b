/** A provider's API as a source of incomes, against answers in its documented form over real HTTP. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { DEFAULT_INCOME_RULES } from '../../src/domain/scorecard/scorecard.ts';
import { judgeIncome } from '../../src/subjects/income/rules/judge-income.ts';
import { belvoProvider } from '../../src/subjects/income/sources/belvo.ts';
import { type Answer, GOOD, INCOMES, LINK, page, STREAM, startBelvoApi, TOKEN } from './belvo-api.ts';

const api = await startBelvoApi();
after(() => api.close());
const { account, requests } = api;
const provider = belvoProvider(account);
const request = { applicationId: toApplicationId(128), currency: 'COP' };
const { signal } = new AbortController();
const person = 'b0f6f2b8-30a1-4b0f-9d1c-5c7d7b1b6a55';
const opened = JSON.stringify({ person });
const coded = JSON.stringify({ person, link: 'link-1', code: 'session-1' });
const resumed = (session: string, code: string | null, changes: Record<string, Answer> = {}) => {
  api.answers = { ...GOOD, ...changes };
  requests.length = 0;
  return provider.resume(request, session, code, signal);
};
const calls = () => requests.map(({ call }) => call);

it('a person first gets the address of the widget, under a name that nobody can guess', async () => {
  api.answers = GOOD;
  const [one, other] = [await provider.observe(request, signal), await provider.observe(request, signal)];
  assert.ok(one.kind === 'next_step' && one.step === 'open_link');
  assert.ok(other.kind === 'next_step' && other.step === 'open_link');
  const link = new URL(one.link);
  assert.equal(link.origin, 'https://widget.belvo.io');
  assert.equal(link.searchParams.get('access_token'), 'access.token');
  assert.equal(link.searchParams.get('external_id'), JSON.parse(one.session).person);
  assert.notEqual(link.searchParams.get('external_id'), new URL(other.link).searchParams.get('external_id'));
  const body = requests.at(-1)?.body as Record<string, unknown>;
  assert.deepEqual(
    [body.id, body.password, body.scopes],
    ['id', 'password', 'read_institutions,write_links'],
  );
  assert.match(JSON.stringify(body.widget), /wa\.me/);
});

it('a person who has not connected an account gets another address, under the same name', async () => {
  const again = await resumed(opened, null, { 'GET links': { status: 200, body: page() } });
  assert.ok(again.kind === 'next_step' && again.step === 'open_link');
  assert.equal(again.session, opened);
  assert.equal(new URL(again.link).searchParams.get('external_id'), person);
  assert.equal(requests[0]?.url, `/api/links/?external_id=${person}`);
});

it('the incomes of a link are whole months of the lower of mean and median, with the holder', async () => {
  const observed = await resumed(opened, null);
  assert.deepEqual(calls(), ['GET links', 'GET owners', 'POST incomes']);
  assert.deepEqual(requests.at(-1), {
    call: 'POST incomes',
    url: '/api/incomes/',
    auth: `Basic ${Buffer.from('id:password').toString('base64')}`,
    body: { link: 'link-1', minimum_confidence_level: 'MEDIUM', save_data: false },
  });
  assert.ok(observed.kind === 'observed');
  assert.deepEqual([observed.confidence, observed.reader], [0.95, 'belvo incomes 1.223']);
  assert.deepEqual(observed.holder, { name: 'Ana Pérez Gómez', idNumber: '52345678' });
  const calendar = { lastWhole: '2026-10', latest: '2026-11' };
  const assess = () => assert.fail('not scored again');
  const declared = { income: 3_300_000, currency: 'COP', decision: 'approved', assess } as const;
  const judged = judgeIncome(declared, observed.observations, calendar, DEFAULT_INCOME_RULES);
  assert.deepEqual([judged.reason, judged.observed], ['confirmed', 325_000_000]);
});

it('a bank that asks for a code needs the person, whose code goes on with the session', async () => {
  const asked = await resumed(opened, null, { 'POST incomes': { status: 428, body: TOKEN } });
  assert.deepEqual(asked, { kind: 'next_step', step: 'enter_code', session: coded });
  const observed = await resumed(coded, '123456');
  assert.equal(observed.kind, 'observed');
  assert.deepEqual(requests.at(-1)?.body, {
    session: 'session-1',
    token: '123456',
    link: 'link-1',
    save_data: false,
  });
  assert.equal(requests.at(-1)?.call, 'PATCH incomes');
});

it('a code that the bank refuses, and a person without the code, make the bank send another one', async () => {
  const second = { status: 428, body: [{ ...TOKEN[0], session: 'session-2' }] };
  const refused = { 'PATCH incomes': { status: 400, body: {} }, 'POST incomes': second };
  for (const code of ['000000', null]) {
    const next = await resumed(coded, code, refused);
    assert.ok(next.kind === 'next_step' && next.step === 'enter_code');
    assert.equal(JSON.parse(next.session).code, 'session-2');
  }
  assert.deepEqual(calls(), ['GET owners', 'POST incomes']);
});

it('a busy or silent provider is asked again, and what does not fit the form counts as nothing', async () => {
  for (const call of ['GET links', 'GET owners', 'POST incomes', 'POST token']) {
    for (const status of [500, 503, 429, 408]) {
      const changes = { 'GET links': { status: 200, body: page(...(call === 'POST token' ? [] : [LINK])) } };
      const answer = await resumed(opened, null, { ...changes, [call]: { status, body: '' } });
      assert.equal(answer.kind, 'wait', `${call} ${status}`);
    }
  }
  assert.equal((await resumed(opened, null, { 'GET owners': { status: 200, body: page() } })).kind, 'wait');
  const nothing: readonly [call: string, Answer, reason: string][] = [
    ['POST incomes', { status: 201, body: { ...INCOMES, income_streams: [] } }, 'no_income'],
    [
      'POST incomes',
      { status: 201, body: { ...INCOMES, income_streams: [{ ...STREAM, confidence: 'LOW' }] } },
      'no_income',
    ],
    [
      'POST incomes',
      { status: 201, body: { ...INCOMES, income_streams: [{ ...STREAM, monthly_average: 'much' }] } },
      'unknown_form',
    ],
    ['POST incomes', { status: 201, body: 'no JSON' }, 'unknown_form'],
    ['POST incomes', { status: 401, body: {} }, 'status_401'],
    ['POST incomes', { status: 302, body: {} }, 'status_302'],
    ['POST incomes', { status: 428, body: {} }, 'status_428'],
    ['GET links', { status: 401, body: {} }, 'status_401'],
    ['GET links', { status: 200, body: {} }, 'unknown_form'],
    ['GET owners', { status: 200, body: { results: 1 } }, 'unknown_form'],
  ];
  for (const [call, answer, reason] of nothing) {
    assert.deepEqual(await resumed(opened, null, { [call]: answer }), { kind: 'nothing', reason });
  }
  const long = { status: 201, body: `"${'x'.repeat(3_000_000)}"` };
  assert.equal((await resumed(opened, null, { 'POST incomes': long })).kind, 'wait');
  const dead = belvoProvider({ ...account, url: 'http://127.0.0.1:1' });
  assert.equal((await dead.observe(request, signal)).kind, 'wait');
});
