import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { GIG_APPLICANT } from '../support/applicant.ts';
import { remac } from '../support/remac.ts';
import { post, testService } from '../support/service.ts';
import { exchange, head } from './raw.ts';

const service = await testService({ LOG_LEVEL: 'trace' });
const capped = await service.addPartner({ dailyCap: 2 });
const free = await service.addPartner();
const revoked = await service.addPartner();
const devOnly = await service.addPartner({ environment: 'DEV' });

/** Words that occur nowhere else. The accents show a leak in UTF-8 and in latin1. */
const PERSON = {
  name: 'Zoraida Quetzalcóatl Wyxbrand',
  id_number: 'ZX-908172635-QK',
  city: 'Villa Ñuxkwarmö',
};
const UNKNOWN_KEY = formatApiKey(null, Buffer.alloc(SECRET_BYTES, 0xd7));
const IDEMPOTENCY_KEY = 'order-of-Wyxbrand-908172635';

/** Phones that occur nowhere else, in several forms. Their national parts must not be found. */
const NATIONAL = ['3229876541', '3229876542', '3229876543', '3229876544', '3229876545'];
const forms = (national: string) => [
  `+57${national}`,
  `0057 ${national}`,
  `57${national}`,
  national,
  `+57 ${national.slice(0, 3)} ${national.slice(3, 6)}-${national.slice(6)}`,
  `(${national.slice(0, 3)}) ${national.slice(3, 6)}.${national.slice(6)}`,
];

/** Patterns that must be found nowhere. Phones match with any usual punctuation between the digits. */
const PLANTED: [string, RegExp][] = [
  ...['Zoraida', 'Quetzalc', 'Wyxbrand', 'uxkwarm', 'ZX-908172635', '908172635'].map(
    (word): [string, RegExp] => [word, new RegExp(word, 'i')],
  ),
  ...NATIONAL.map((national): [string, RegExp] => [national, new RegExp([...national].join('[ ().-]{0,3}'))]),
  ...[capped, free, revoked, devOnly].map(({ apiKey }): [string, RegExp] => [
    'a key',
    new RegExp(apiKey.slice(14, -8)),
  ]),
  ['an unknown key', /d7d7d7d7d7/],
];

/** The names of the planted words that a text holds. */
const found = (text: string) => PLANTED.filter(([, pattern]) => pattern.test(text)).map(([word]) => word);

const application = (changes: Record<string, unknown> = {}) => ({
  ...GIG_APPLICANT,
  ...PERSON,
  phone: forms(NATIONAL[0] as string)[0],
  ...changes,
});

const statuses = new Map<number, number>();
const count = (status: number | undefined) => statuses.set(status ?? 0, (statuses.get(status ?? 0) ?? 0) + 1);

async function send(path: string, key: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await post(service.url + path, key, body, headers);
  count(answer.status);
  return answer;
}

/** Sends the planted words on every path through the service. */
async function sendEverywhere(): Promise<void> {
  const invalid = [
    application({ income: 'Wyxbrand' }),
    application({ phone: `${NATIONAL[1]} Wyxbrand` }),
    application({ id_number: 'ZX-908172635-QK'.repeat(20) }),
    application({ name: `Zoraida\u0000Wyxbrand` }),
    application({ city: [PERSON.city], messaging_optin: PERSON.name }),
    application({ num_debts: PERSON.name, debt_age: PERSON.city, prior_history: PERSON.id_number }),
    { [PERSON.name]: PERSON.id_number },
    PERSON.name,
    [PERSON.name],
    908172635,
  ];
  for (const environment of ['/PRO', '/DEV']) {
    await send(environment, free.apiKey, { applications: invalid });
    await send(environment, free.apiKey, { aplicaciones: invalid });
    for (const phone of forms(NATIONAL[2] as string)) {
      await send(environment, free.apiKey, { applications: [application({ phone })] });
    }
    await send(environment, free.apiKey, {
      applications: [application({ phone: null, messaging_optin: false })],
    });
    await send(environment, free.apiKey, {
      applications: [application({ debt_amount: 1e12, phone: NATIONAL[4] })],
    });
    // Failures of the whole request.
    const text = JSON.stringify({ applications: [application()] });
    for (const body of [
      text.slice(0, -1),
      `${text}${PERSON.name}`,
      `"${PERSON.name}"`,
      JSON.stringify([application()]),
      JSON.stringify({ [PERSON.name]: [application()] }),
      JSON.stringify({ applications: PERSON.name }),
      JSON.stringify({ applications: new Array(101).fill(application()) }),
    ]) {
      await send(environment, free.apiKey, body);
    }
    await send(environment, free.apiKey, Buffer.from(text, 'utf16le'));
    await send(environment, free.apiKey, Buffer.from(text, 'latin1'));
    await send(environment, free.apiKey, text + ' '.repeat(4 * 1024 * 1024));
    await send(environment, free.apiKey, text, { 'Content-Type': `text/plain; x=${PERSON.id_number}` });
    await send(environment, free.apiKey, text, { 'Content-Type': PERSON.id_number });
    // Keys that are refused.
    for (const key of [
      UNKNOWN_KEY,
      revoked.apiKey,
      `${free.apiKey}x`,
      free.apiKey.slice(0, -1),
      PERSON.id_number,
    ]) {
      await send(environment, key, text);
      const got = await fetch(service.url + environment, { headers: { 'X-API-Key': key } });
      count(got.status);
    }
    // Header values and the query string, on good and bad requests.
    const headers = {
      'User-Agent': PERSON.id_number,
      Referer: `https://x/${NATIONAL[3]}`,
      Cookie: `who=${PERSON.id_number}`,
      'X-Request-Id': PERSON.id_number,
      'X-Forwarded-For': NATIONAL[3] as string,
      'Accept-Language': PERSON.id_number,
      traceparent: PERSON.id_number,
      Authorization: `Bearer ${free.apiKey}`,
      Expect: '',
    };
    const { Expect: _, ...plain } = headers;
    const query = `?phone=${NATIONAL[3]}&name=Zoraida&key=${free.apiKey}`;
    await send(
      environment + query,
      free.apiKey,
      { applications: [application({ phone: NATIONAL[3] })] },
      plain,
    );
    for (const path of [
      environment + query,
      `/x${query}`,
      `/Wyxbrand/${NATIONAL[3]}`,
      `/${free.apiKey}`,
      `/%ZZWyxbrand`,
    ]) {
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'POST']) {
        const { status } = await fetch(service.url + path, { method, headers: plain });
        count(status);
      }
    }
  }
  await send('/PRO', devOnly.apiKey, { applications: [application()] });
  // Quota, duplicates and idempotent replays.
  const three = [1, 3, 4].map((place) =>
    application({ phone: NATIONAL[place], id_number: `${PERSON.id_number}-${place}` }),
  );
  await send('/PRO', capped.apiKey, {
    applications: [...three, ...three, application({ phone: null }), application({ phone: null })],
  });
  const body = { applications: [application({ phone: '' }), application()] };
  for (const key of [IDEMPOTENCY_KEY, IDEMPOTENCY_KEY])
    await send('/PRO', free.apiKey, body, { 'Idempotency-Key': key });
  await send('/PRO', free.apiKey, { applications: [application()] }, { 'Idempotency-Key': IDEMPOTENCY_KEY });
  await send('/PRO', free.apiKey, body, { 'Idempotency-Key': 'Wyxbrand'.repeat(40) });
  // Bytes that are not HTTP, and requests that are cut off.
  const top = head('POST', '/PRO', {
    'X-API-Key': free.apiKey,
    'Content-Type': 'application/json',
    'Content-Length': 900,
  });
  const raw = [
    `Wyxbrand ${NATIONAL[3]}\r\n\r\n`,
    `FOO /${PERSON.id_number} HTTP/1.1\r\nX-API-Key: ${free.apiKey}\r\n\r\n`,
    `GET /PRO HTTP/1.1\r\nHost: x\r\nX-API-Key: ${free.apiKey}\u0000\r\n\r\n`,
    `GET /PRO HTTP/1.1\r\nHost: x\r\nX-API-Key: ${free.apiKey.repeat(1_000)}\r\n\r\n`,
  ];
  for (const text of raw) await exchange(service.url, [text], { end: true, timeoutMs: 1_000 });
  await exchange(service.url, [top, JSON.stringify({ applications: [application()] })], { abort: true });
}

describe('leaks', () => {
  before(async () => {
    await service.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.keyId]);
    await remac(service);
    await sendEverywhere();
  });

  it('the search finds planted words', () => {
    for (const national of NATIONAL) {
      for (const form of forms(national)) assert.deepEqual(found(`{"x":"${form}"}`), [national], form);
    }
    assert.ok(found(JSON.stringify(application())).length >= 6);
    assert.deepEqual(found(free.apiKey), ['a key']);
    assert.deepEqual(found(UNKNOWN_KEY), ['an unknown key']);
  });

  it('no log line at any level has personal data or a key', async () => {
    // The requests took every intended path.
    for (const status of [200, 400, 401, 404, 405, 413])
      assert.ok((statuses.get(status) ?? 0) > 1, `no ${status}`);
    assert.equal(statuses.get(500), undefined);
    assert.ok(service.log.length > 50);
    for (const line of service.log) assert.deepEqual(found(line), [], line);
  });

  it('the log of a failure within the service has nothing of the request', async () => {
    const lines = service.log.length;
    // The database's own message quotes the row. The platform stands for any value in such a message.
    await service.database.query(`
      CREATE FUNCTION quote_row() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'cannot store %', NEW::text USING DETAIL = NEW::text; END $$;
      CREATE TRIGGER quote_row BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION quote_row();
      ALTER FUNCTION usage_at RENAME TO usage_gone`);
    const failing = { ...application({ phone: null }), platform: 'Wyxbrand' };
    const answers = [
      await post(`${service.url}/PRO`, free.apiKey, { applications: [failing] }),
      await send(
        '/PRO',
        free.apiKey,
        { applications: [failing] },
        { 'Idempotency-Key': `${IDEMPOTENCY_KEY}-2` },
      ),
    ];
    const got = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': free.apiKey } });
    await service.database.query(`
      DROP TRIGGER quote_row ON batches;
      DROP FUNCTION quote_row;
      ALTER FUNCTION usage_gone RENAME TO usage_at`);
    for (const { status, body } of answers) {
      assert.equal(status, 500);
      assert.deepEqual(body, { error: 'temporary internal error; retry' });
    }
    assert.equal(got.status, 500);
    assert.ok(service.log.length >= lines + 6, 'each failed request has its line and the failure');
    for (const line of service.log.slice(lines)) assert.deepEqual(found(line), [], line);
  });

  it('no row of any table holds personal data unsealed', async () => {
    const { rows: tables } = await service.database.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
    );
    assert.ok(tables.length >= 8);
    let withPersonalData = 0;
    for (const { name } of tables) {
      const { rows } = await service.database.query<{ line: string }>(
        `SELECT t::text AS line FROM ${name} t`,
      );
      for (const { line } of rows) assert.deepEqual(found(line), [], name);
      const { rows: columns } = await service.database.query<{ column: string }>(
        `SELECT quote_ident(column_name) AS column FROM information_schema.columns
         WHERE table_schema = 'public' AND quote_ident(table_name) = $1 AND udt_name = 'bytea'`,
        [name],
      );
      for (const { column } of columns) {
        const values = await service.database.query<{ bytes: Buffer }>(
          `SELECT ${column} AS bytes FROM ${name} WHERE ${column} IS NOT NULL`,
        );
        for (const { bytes } of values.rows) {
          for (const encoding of ['latin1', 'utf16le', 'base64', 'hex'] as const) {
            assert.deepEqual(found(bytes.toString(encoding)), [], `${name}.${column} ${encoding}`);
          }
        }
        if (name === 'batches' || name === 'batch_receipts') withPersonalData += values.rows.length;
      }
    }
    // The rows include envelopes and drafts of answers.
    assert.ok(withPersonalData >= 2, String(withPersonalData));
    const { rows } = await service.database.query('SELECT count(draft)::int AS drafts FROM batch_receipts');
    assert.ok(rows[0].drafts >= 1);
  });
});
