/** Errors that a program can read, where a request asks for them (D55). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SANDBOX_SCENARIOS } from '../../src/domain/application/sandbox.ts';
import { asksForCodes, FIELD_CODES, REQUEST_PROBLEMS } from '../../src/wire/contract/texts.ts';
import { anApplication, testService } from '../support/service.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const service = await testService();
const CODES = { Accept: 'application/json; profile=codes' };

function send(path: string, apiKey: string, headers: Record<string, string>, body?: unknown) {
  return fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

async function bodyOf(answer: Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await answer).json()) as Record<string, unknown>;
}

interface Entry {
  readonly code?: string;
  readonly fields?: unknown;
}

const DUPLICATE_PHONE = SANDBOX_SCENARIOS.find(({ outcome }) => outcome.kind === 'duplicate')!.phone;

/** One element of each kind that is not registered, and the fields at fault of the wrong one. */
const WRONG = { name: 'Ana', cedula: '1', ciudad: 'Cali', income: -1, num_debts: 9, messaging_optin: 'yes' };
const FAULTS = [
  { name: 'income', sent_as: 'income', code: 'amount' },
  { name: 'debt_amount', sent_as: null, code: 'required' },
  { name: 'num_debts', sent_as: 'num_debts', code: 'choice' },
  { name: 'debt_age', sent_as: null, code: 'required' },
  { name: 'prior_history', sent_as: null, code: 'required' },
  { name: 'messaging_optin', sent_as: 'messaging_optin', code: 'consent' },
];

describe('errors with codes', () => {
  for (const environment of ['PRO', 'DEV'])
    for (const root of ['applications', 'aplicaciones'])
      it(`D55: each kind has its code, and the rest is the same answer: ${environment}, ${root}`, async () => {
        const list = root === 'applications' ? 'errors_detail' : 'errores_detalle';
        // Without a phone the same application may come again, and it uses up the rest of the quota.
        const last = anApplication({ phone: null });
        const answers: Entry[][] = [];
        for (const headers of [{}, CODES]) {
          const { apiKey } = await service.addPartner({ dailyCap: 2 });
          const phone = environment === 'DEV' ? DUPLICATE_PHONE : '+573001119900';
          await emptyApplications(service.database);
          await send(`/${environment}`, apiKey, {}, { applications: [anApplication({ phone })] });
          const duplicate = anApplication({ phone, id_number: '77' });
          const body = { [root]: [WRONG, null, duplicate, last, last] };
          answers.push((await bodyOf(send(`/${environment}`, apiKey, headers, body)))[list] as Entry[]);
        }
        const [plain = [], entries = []] = answers;
        assert.deepEqual(entries[0]?.fields, FAULTS);
        assert.deepEqual(
          entries.map(({ code }) => code),
          ['invalid', 'not_an_object', 'duplicate', ...(environment === 'PRO' ? ['quota_exceeded'] : [])],
        );
        const without = entries.map(({ code: _, fields: __, ...rest }) => rest);
        assert.deepEqual(without, plain);
      });

  it('D55: a failed request has the code of its text, and without the profile the text alone', async () => {
    const { apiKey } = await service.addPartner();
    for (const [key, body, code] of [
      ['wrong', { applications: [] }, 'unauthorized'],
      [apiKey, { applications: [] }, 'empty_batch'],
      [apiKey, [], 'not_an_object'],
    ] as const) {
      const plain = await bodyOf(send('/PRO', key, {}, body));
      assert.deepEqual(Object.keys(plain), ['error']);
      assert.deepEqual(await bodyOf(send('/PRO', key, CODES, body)), { ...plain, code });
      assert.ok((REQUEST_PROBLEMS as readonly string[]).includes(code));
    }
  });

  it('D55: a key with a cap hears what is left, and when more is free', async () => {
    const { apiKey } = await service.addPartner({ dailyCap: 3 });
    const quota = async (headers: Record<string, string>, body?: unknown) => {
      const answer = await send('/PRO', apiKey, headers, body);
      await answer.body?.cancel();
      const [left, reset] = ['x-quota-remaining', 'x-quota-reset'].map((name) => answer.headers.get(name));
      return { left, reset };
    };
    assert.deepEqual(await quota(CODES), { left: '3', reset: null });
    const first = await quota(CODES, { applications: [anApplication(), anApplication()] });
    assert.equal(first.left, '1');
    assert.ok(Number(first.reset) > 86_000 && Number(first.reset) <= 86_401, `${first.reset}`);
    assert.equal((await quota(CODES, { applications: [anApplication(), anApplication()] })).left, '0');
    assert.deepEqual(await quota({}), { left: null, reset: null });
    const { apiKey: free } = await service.addPartner();
    const answer = await send('/PRO', free, CODES);
    await answer.body?.cancel();
    assert.equal(answer.headers.get('x-quota-remaining'), null);
  });
});

describe('the profile', () => {
  const TABLE: readonly (readonly [accept: string | undefined, asks: boolean])[] = [
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['application/json; profile=codes', true],
    ['application/json;profile="codes"', true],
    ['APPLICATION/JSON; Profile=Codes', true],
    ['text/html, application/json; profile=codes; q=0.5', true],
    ['application/json; profile=codes; q=0', false],
    ['application/json; profile=codes; q=0.000', false],
    ['text/plain; profile=codes', false],
    ['application/json; profile=codes2', false],
    ['application/json; charset=utf-8; profile=codes', true],
    ['*/*; profile=codes', true],
  ];
  for (const [accept, asks] of TABLE)
    it(`D55: Accept ${accept} ${asks ? 'asks' : 'does not ask'} for codes`, () => {
      assert.equal(asksForCodes(accept), asks);
    });

  it('D55: a long header is read in a moment', () => {
    assert.equal(asksForCodes(`${'application/json;'.repeat(50_000)}profile=codes`), true);
  });

  it('D55: the rules of fields have the names of the documentation', () => {
    assert.deepEqual([...FIELD_CODES].toSorted(), [
      ...['amount', 'choice', 'consent', 'instant', 'phone', 'required', 'text'],
    ]);
  });
});
