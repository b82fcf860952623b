import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { exchange, head } from '../gate/raw.ts';
import { ABOVE_LIMIT, GIG_APPLICANT, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { remac } from '../support/remac.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const service = await testService();
const based = await testService({ BASE_PATH: '/api/v1' });

const PRO = `${service.url}/PRO`;
const DEV = `${service.url}/DEV`;
const UNKNOWN_KEY = `vtn_all_${'0'.repeat(40)}00000000`;
const MIB = 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends any method with exactly these headers, which fetch does not allow. */
function call(method: string, url: string, headers: Record<string, string> = {}, body?: string | Uint8Array) {
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A service that waits for the body gives up after 9 seconds, with another answer. */
const PATIENTLY = { timeoutMs: 30_000 };
const JSON_HEADERS = { 'Content-Type': 'application/json' };
const keyed = (apiKey: string, more: Record<string, string> = {}) => ({
  'X-API-Key': apiKey,
  ...JSON_HEADERS,
  ...more,
});
const batch = (...applications: unknown[]) => JSON.stringify({ applications });

/** D1: checks the one form of every failure. Returns the text. */
function failure(answer: Answer, status: number, what = ''): string {
  assert.equal(answer.status, status, `${what} ${answer.text}`);
  assert.equal(answer.headers['content-type'], 'application/json', what);
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ['error'], what);
  assert.ok(typeof body.error === 'string' && body.error !== '', what);
  return body.error;
}

const isSpanish = (text: string) => /[áéíóúñ]|^no encontrado$|debe|cuerpo|^API key no es/.test(text);
const languageOf = (text: string) => (isSpanish(text) ? 'es' : 'en');

async function storedApplications(): Promise<number> {
  const { rows } = await service.database.query('SELECT count(*)::int AS count FROM applications');
  return rows[0].count;
}

const englishOf = { id_number: 'x' };

describe('golden answers', () => {
  /** Compares with `test/golden/NAME.json`. `UPDATE_GOLDEN=1` writes the file, for a person to check. */
  function golden(name: string, text: string): void {
    const marked = text
      .replaceAll(/"id":\d+/g, '"id":"<id>"')
      .replaceAll(/"fetched_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"/g, '"fetched_at":"<time>"');
    const path = resolve(import.meta.dirname, `../golden/${name}.json`);
    if (process.env.UPDATE_GOLDEN !== undefined) {
      writeFileSync(path, `${JSON.stringify(JSON.parse(marked), null, 2)}\n`);
    }
    // As text, so that the order of the members counts.
    assert.equal(
      JSON.stringify(JSON.parse(marked), null, 1),
      JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), null, 1),
    );
  }

  /** One of each outcome. The first five and the element after the duplicate use up the quota of 6. */
  const english = (): unknown[] => {
    const base = {
      ...GIG_APPLICANT,
      platform: 'Rappi',
      currency: 'cop',
      debt_amount: '6000000.00',
      num_debts: 1,
      debt_age: 'LT6',
      prior_history: 'Yes',
    };
    const second = { name: 'Beto Ruiz', id_number: '1002', phone: '+573000000002' };
    const third = { name: 'Caro Díaz', id_number: '1003', phone: '+573000000003' };
    return [
      { ...base, name: ' Ana Gómez ', id_number: ' 1001 ', phone: '300 000 0001' },
      { ...base, ...IN_REVIEW, ...second, num_debts: '1', debt_age: '6a12' },
      { ...base, ...IN_REVIEW, ...third, num_debts: 2, messaging_optin: false },
      { ...base, ...REJECTED, name: 'Dani Paz', id_number: '1004', phone: '+573000000004' },
      { ...base, ...ABOVE_LIMIT, name: 'Eva Sol', id_number: '1005', phone: '+573000000005' },
      {
        name: '',
        id_number: 1006,
        phone: 'x',
        income: -1,
        num_debts: 4,
        prior_history: 'sí',
        messaging_optin: 'true',
      },
      null,
      'text',
      7,
      ['array'],
      { ...base, name: 'Ana Otra', id_number: '1007', phone: '573000000001' },
      { ...base, name: 'Fran Gil', id_number: '1008', phone: '' },
      { ...base, name: 'Gabi Mar', id_number: '1009', phone: '+573000000009' },
    ];
  };
  const SPANISH: Record<string, string> = {
    name: 'nombre',
    id_number: 'cedula',
    city: 'ciudad',
    phone: 'telefono',
    platform: 'plataforma',
    currency: 'moneda',
    income: 'ingreso_cop',
    debt_amount: 'monto_deuda',
    num_debts: 'num_deudas',
    debt_age: 'antiguedad_mora',
    prior_history: 'historial_previo',
    messaging_optin: 'optin_messaging',
  };
  const inSpanish = (elements: unknown[]) =>
    elements.map((element) => {
      if (typeof element !== 'object' || element === null || Array.isArray(element)) return element;
      return Object.fromEntries(
        Object.entries(element).map(([name, value]) => [
          SPANISH[name] as string,
          value === 'Yes' ? 'Si' : value,
        ]),
      );
    });

  for (const environment of ['PRO', 'DEV']) {
    for (const language of ['en', 'es']) {
      it(`contract "Submit a batch", D14-D17, D25, D26: a batch with every outcome, ${environment}, ${language}`, async (t) => {
        // An open phone may be stored only once, so the other language's batch has to go first.
        t.after(() => emptyApplications(service.database));
        await emptyApplications(service.database);
        const { apiKey } = await service.addPartner({ dailyCap: 6 });
        const elements = english();
        const root = language === 'en' ? { applications: elements } : { aplicaciones: inSpanish(elements) };
        const answer = await call(
          'POST',
          `${service.url}/${environment}`,
          keyed(apiKey),
          JSON.stringify(root),
        );
        assert.equal(answer.status, 200);
        assert.equal(answer.headers['content-type'], 'application/json');
        golden(`batch-${environment.toLowerCase()}-${language}`, answer.text);
        const results = JSON.parse(answer.text)[language === 'en' ? 'results' : 'resultados'] as {
          id: number | null;
        }[];
        const { rows } = await service.database.query('SELECT id::int FROM applications ORDER BY id');
        const ids = environment === 'PRO' ? results.map(({ id }) => id as number) : [];
        assert.deepEqual(
          rows.map((row) => row.id),
          ids.toSorted((a, b) => a - b),
        );
        assert.ok(ids.every((id) => Number.isInteger(id)) && new Set(ids).size === ids.length);
      });
    }
  }

  it('contract "Submit a batch" 5: without failures there is no errors_detail', async () => {
    const { apiKey } = await service.addPartner();
    const application = anApplication({ name: 'Ana Gómez', id_number: '1', phone: null });
    for (const environment of ['PRO', 'DEV']) {
      const answer = await call('POST', `${service.url}/${environment}`, keyed(apiKey), batch(application));
      golden(`batch-${environment.toLowerCase()}-en-no-failure`, answer.text);
    }
  });

  for (const environment of ['PRO', 'DEV']) {
    for (const language of ['en', 'es']) {
      it(`contract "Quota status", D22, D23, D25: GET, ${environment}, ${language}, with and without a cap`, async () => {
        for (const dailyCap of [500, null]) {
          const { apiKey, partnerId } = await service.addPartner({ dailyCap, country: 'MX' });
          const name = `Rápido ${environment} ${language}${dailyCap === null ? ' sin tope' : ''}`;
          await service.database.query('UPDATE partners SET name = $2 WHERE id = $1', [partnerId, name]);
          const applications = [1, 2, 3].map(() => anApplication());
          await post(PRO, apiKey, { applications: [...applications, null] });
          const headers = { 'X-API-Key': apiKey, 'Accept-Language': language };
          const answer = await call('GET', `${service.url}/${environment}`, headers);
          assert.equal(answer.status, 200);
          assert.equal(answer.headers['content-type'], 'application/json');
          const suffix = dailyCap === null ? '-no-cap' : '';
          golden(`quota-${environment.toLowerCase()}-${language}${suffix}`, answer.text);
        }
      });
    }
  }

  it('D23, D39: fetched_at is now by the database’s clock, with a numeric offset', async () => {
    const { apiKey } = await service.addPartner();
    const databaseNow = async () => {
      const text = "SELECT date_trunc('milliseconds', clock_timestamp()) AS now";
      return ((await service.database.query(text)).rows[0].now as Date).getTime();
    };
    const before = await databaseNow();
    const { fetched_at } = JSON.parse((await call('GET', PRO, { 'X-API-Key': apiKey })).text);
    assert.match(fetched_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
    const at = new Date(fetched_at).getTime();
    assert.ok(at >= before && at <= (await databaseNow()));
  });

  it('D16, D18: a cap below the usage leaves 0 remaining, never less', async () => {
    const { apiKey, keyId } = await service.addPartner({ dailyCap: 3 });
    await post(PRO, apiKey, { applications: [anApplication(), anApplication(), anApplication()] });
    await service.database.query('UPDATE api_keys SET daily_cap = 1 WHERE id = $1', [keyId]);
    await remac(service);
    const { partner } = JSON.parse((await call('GET', PRO, { 'X-API-Key': apiKey })).text);
    assert.deepEqual([partner.daily_cap, partner.used_24h, partner.remaining], [1, 3, 0]);
    const { body } = await post(PRO, apiKey, { applications: [anApplication(englishOf)] });
    assert.deepEqual(body, {
      processed: 0,
      errors: 1,
      results: [],
      errors_detail: [{ id_number: 'x', error: 'quota_partner_exceeded', remaining: 0, daily_cap: 1 }],
    });
  });
});

describe('paths and methods (D1)', () => {
  const METHODS = ['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

  it('D1: any method but POST and GET gets 405 with Allow, before the key is checked', async () => {
    const { apiKey } = await service.addPartner({ language: 'es' });
    for (const method of METHODS) {
      for (const path of ['/PRO', '/DEV', '/PRO/', '/DEV/', '/PRO?x=1']) {
        for (const headers of [{}, { 'X-API-Key': 'wrong' }, { 'X-API-Key': apiKey }]) {
          const answer = await call(method, service.url + path, headers);
          assert.equal(answer.headers.allow, 'GET, POST', `${method} ${path}`);
          if (method === 'HEAD') assert.equal(answer.status, 405);
          else assert.equal(languageOf(failure(answer, 405, `${method} ${path}`)), 'en');
        }
      }
    }
  });

  it('D1: a method with a body is refused without waiting for the body', async () => {
    const request = [head('PUT', '/PRO', { 'Content-Length': 1_000 }), 'part'];
    const { answers } = await exchange(service.url, request, PATIENTLY);
    assert.equal(answers[0]?.status, 405);
  });

  it('D1: a trailing slash is accepted', async () => {
    const { apiKey } = await service.addPartner();
    for (const path of ['/PRO/', '/DEV/', '/PRO', '/DEV', '/PRO/?x=1', '/DEV?x']) {
      assert.equal((await call('GET', service.url + path, { 'X-API-Key': apiKey })).status, 200, path);
      const posted = await call('POST', service.url + path, keyed(apiKey), batch(anApplication()));
      assert.equal(posted.status, 200, path);
    }
  });

  it('D1: any other path gets 404 for every method, with or without a key', async () => {
    const { apiKey } = await service.addPartner();
    const paths = [
      '/',
      '/pro',
      '/dev',
      '/Pro',
      '/PROD',
      '/PRO/x',
      '/x/PRO',
      '/PRO//',
      '//PRO',
      '/PRO%2F',
      '/api/v1/PRO',
      '/%ZZ',
      '/PRO%',
      '/favicon.ico',
      `/${'x'.repeat(2_000)}`,
      '/__proto__',
      '/PRO;x',
    ];
    for (const path of paths) {
      // What no route has is answered before the method is looked at.
      for (const method of ['/', '/PRO/x'].includes(path) ? ['GET', 'POST', ...METHODS] : ['GET', 'POST']) {
        const answer = await call(method, service.url + path, { 'X-API-Key': apiKey });
        if (method === 'HEAD') assert.equal(answer.status, 404, path);
        else failure(answer, 404, `${method} ${path}`);
        assert.equal(answer.headers.allow, undefined);
      }
    }
    assert.equal((await exchange(service.url, [head('OPTIONS', '*')])).answers[0]?.status, 404);
  });

  it('D1: where a person looks first, the 404 names the documentation below the base path', async () => {
    const { origin } = new URL(based.url);
    for (const [url, docs] of [
      [`${service.url}/`, '/docs'],
      [`${service.url}/?x`, '/docs'],
      [`${origin}/`, '/api/v1/docs'],
      [`${origin}/api/v1`, '/api/v1/docs'],
      [`${origin}/api/v1/`, '/api/v1/docs'],
    ] as const) {
      const english = failure(await call('GET', url), 404, url);
      assert.equal(english, `not found; the documentation is at ${docs}`);
      const spanish = failure(await call('GET', url, { 'Accept-Language': 'es' }), 404, url);
      assert.equal(spanish, `no encontrado; la documentación está en ${docs}`);
    }
    for (const path of ['/x', '/PRO/x'])
      assert.equal(failure(await call('GET', origin + path), 404), 'not found');
  });

  it('D1: with BASE_PATH the routes are below that path and nowhere else', async () => {
    const { apiKey } = await based.addPartner();
    const { origin } = new URL(based.url);
    assert.equal(based.url, `${origin}/api/v1`);
    for (const path of ['/api/v1/PRO', '/api/v1/DEV', '/api/v1/PRO/']) {
      assert.equal((await call('GET', origin + path, { 'X-API-Key': apiKey })).status, 200, path);
      assert.equal(
        (await call('POST', origin + path, keyed(apiKey), batch(anApplication()))).status,
        200,
        path,
      );
      failure(await call('POST', origin + path, JSON_HEADERS, '{}'), 401, path);
      const refused = await call('PUT', origin + path);
      failure(refused, 405, path);
      assert.equal(refused.headers.allow, 'GET, POST');
    }
    for (const path of [
      '/PRO',
      '/DEV',
      '/api/PRO',
      '/api/v1',
      '/api/v1/',
      '/API/v1/PRO',
      '/api/v1/pro',
      '/api/v1/x/PRO',
    ]) {
      for (const method of ['GET', 'POST', 'PUT']) {
        failure(await call(method, origin + path, { 'X-API-Key': apiKey }), 404, `${method} ${path}`);
      }
    }
  });
});

describe('keys (contract "Authentication")', () => {
  it('contract, D2: a missing or invalid key gets 401 with any body', async () => {
    const { apiKey } = await service.addPartner();
    const wrong: Record<string, string>[] = [
      {},
      { 'X-API-Key': '' },
      { 'X-API-Key': ' ' },
      { 'X-API-Key': 'wrong' },
      { 'X-API-Key': UNKNOWN_KEY },
      { 'X-API-Key': apiKey.slice(0, -1) },
      { 'X-API-Key': `${apiKey}0` },
      { 'X-API-Key': apiKey.toUpperCase() },
      { 'X-API-Key': `${apiKey}, ${apiKey}` },
      { 'X-API-Key': 'x'.repeat(5_000) },
      { 'X-API-Key': "' OR 1=1 --" },
      { Authorization: `Bearer ${apiKey}` },
    ];
    const bodies: [Record<string, string>, string][] = [
      [JSON_HEADERS, batch(anApplication())],
      [JSON_HEADERS, 'not json'],
      [{ 'Content-Type': 'text/plain' }, ''],
      [{ ...JSON_HEADERS, 'Idempotency-Key': '\u00e9' }, '{}'],
    ];
    const before = await storedApplications();
    for (const headers of wrong) {
      for (const url of [PRO, DEV]) {
        failure(await call('GET', url, headers), 401);
        // The key is looked at before the body, whatever is wrong with the key.
        for (const [more, body] of headers['X-API-Key'] === UNKNOWN_KEY ? bodies : bodies.slice(0, 1))
          failure(await call('POST', url, { ...headers, ...more }, body), 401);
      }
    }
    assert.equal(await storedApplications(), before);
  });

  it('D2: the key is checked before the body, so the 401 does not wait for the body', async () => {
    const long = { ...JSON_HEADERS, 'X-API-Key': UNKNOWN_KEY, 'Content-Length': 1_000_000 };
    for (const path of ['/PRO', '/DEV']) {
      const request = [head('POST', path, long), '{"applications": ['];
      const { answers } = await exchange(service.url, request, PATIENTLY);
      assert.equal(answers[0]?.status, 401);
    }
    // The same holds for a body that is far too large or in an unknown encoding.
    const large = { ...long, 'Content-Length': 50 * MIB };
    assert.equal((await exchange(service.url, [head('POST', '/PRO', large)])).answers[0]?.status, 401);
  });

  it('D20: a key opens exactly the environments that it was issued for', async () => {
    for (const [environment, open] of [
      ['PRO', ['PRO']],
      ['DEV', ['DEV']],
      [null, ['PRO', 'DEV']],
    ] as const) {
      const { apiKey } = await service.addPartner({ environment });
      for (const called of ['PRO', 'DEV'] as const) {
        const url = `${service.url}/${called}`;
        const got = await call('GET', url, { 'X-API-Key': apiKey });
        const posted = await call('POST', url, keyed(apiKey), batch(anApplication()));
        if ((open as readonly string[]).includes(called))
          assert.deepEqual([got.status, posted.status], [200, 200]);
        else {
          for (const answer of [got, posted]) {
            const error = failure(answer, 401, `${environment} on ${called}`);
            assert.equal(error, `API key is not for this environment: it is for /${environment}`);
          }
          const spanish = await call('GET', url, { 'X-API-Key': apiKey, 'Accept-Language': 'es' });
          const error = failure(spanish, 401);
          assert.equal(error, `API key no es para este ambiente: es para /${environment}`);
        }
      }
    }
  });

  it('D20, D21: a key that is revoked does not say for which environment it was', async () => {
    const { apiKey, keyId } = await service.addPartner({ environment: 'DEV' });
    await service.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
    await remac(service);
    const error = failure(await call('GET', PRO, { 'X-API-Key': apiKey }), 401);
    assert.equal(error, 'API key invalid or absent');
  });

  it('D21: a revoked key is refused from the next request on', async () => {
    const calls = {
      'POST PRO': (apiKey: string) => call('POST', PRO, keyed(apiKey), batch(anApplication())),
      'POST PRO, nothing to store': (apiKey: string) => call('POST', PRO, keyed(apiKey), batch(null)),
      'POST DEV': (apiKey: string) => call('POST', DEV, keyed(apiKey), batch(anApplication())),
      'GET PRO': (apiKey: string) => call('GET', PRO, { 'X-API-Key': apiKey }),
      'GET DEV': (apiKey: string) => call('GET', DEV, { 'X-API-Key': apiKey }),
    };
    for (const [what, send] of Object.entries(calls)) {
      const { apiKey, keyId } = await service.addPartner();
      for (let times = 0; times < 3; times++) assert.equal((await send(apiKey)).status, 200, what);
      await service.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
      await remac(service);
      const before = await storedApplications();
      failure(await send(apiKey), 401, what);
      assert.equal(await storedApplications(), before);
    }
  });
});

describe('request failures (D3)', () => {
  const utf16 = (text: string, bigEndian: boolean) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
    return bigEndian ? bytes.swap16() : bytes;
  };

  it('D3: each 400 on both environments, with nothing registered', async () => {
    const { apiKey } = await service.addPartner();
    const good = batch(anApplication());
    const bad: [string, string | Uint8Array][] = [
      ['empty', ''],
      ['blank', ' \n'],
      ['cut', good.slice(0, -1)],
      ['trailing comma', '{"applications": [{}],}'],
      ['single quotes', "{'applications': [{}]}"],
      ['two values', `${good}${good}`],
      ['NaN', '{"applications": [NaN]}'],
      ['comment', `/* x */ ${good}`],
      ['raw control character', '{"applications": ["\n"]}'],
      ['invalid UTF-8', Buffer.from([...Buffer.from('{"applications": ["'), 0xff, ...Buffer.from('"]}')])],
      ['cut UTF-8', Buffer.concat([Buffer.from(good), Buffer.from([0xc3])])],
      ['UTF-8 beyond U+10FFFF', Buffer.from([0x22, 0xf5, 0x80, 0x80, 0x80, 0x22])],
      ['BOM', `\ufeff${good}`],
      ['latin1', Buffer.from('{"applications": ["é"]}', 'latin1')],
      ['surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
      ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
      ['UTF-16 LE', utf16(good, false)],
      ['UTF-16 BE', utf16(good, true)],
      ['gzip', Buffer.from('1f8b080000000000', 'hex')],
      ['array', `[${good}]`],
      ['applications alone', '[{}]'],
      ['number', '5'],
      ['string', '"applications"'],
      ['true', 'true'],
      ['null', 'null'],
      ['no root', '{}'],
      ['unknown root', '{"solicitudes": [{}]}'],
      ['other case', '{"Applications": [{}]}'],
      ['an application without a root', JSON.stringify(anApplication())],
      ['__proto__', '{"__proto__": {"applications": [{}]}}'],
      ['both null', '{"applications": null, "aplicaciones": null}'],
    ];
    for (const root of ['applications', 'aplicaciones']) {
      for (const value of ['null', '5', '"x"', 'true', '{}', '{"0": {}, "length": 1}', '[]']) {
        bad.push([`${root} ${value}`, `{"${root}": ${value}}`]);
      }
      const many = JSON.stringify({ [root]: Array.from({ length: 101 }, () => anApplication()) });
      bad.push([`${root} 101`, many]);
      bad.push([`${root} 101 nulls`, JSON.stringify({ [root]: new Array(101).fill(null) })]);
    }
    const before = await storedApplications();
    for (const url of [PRO, DEV]) {
      for (const [what, body] of bad) failure(await call('POST', url, keyed(apiKey), body), 400, what);
    }
    assert.equal(await storedApplications(), before);
  });

  it('contract "Limits": a batch of 100 applications is registered, in its order', async () => {
    const { apiKey } = await service.addPartner();
    const applications = Array.from({ length: 100 }, () => anApplication());
    for (const url of [PRO, DEV]) {
      const { processed, errors, results } = JSON.parse(
        (await call('POST', url, keyed(apiKey), batch(...applications))).text,
      );
      assert.deepEqual([processed, errors], [100, 0]);
      assert.deepEqual(
        results.map((result: { id_number: string }) => result.id_number),
        applications.map((application) => application.id_number),
      );
    }
  });

  it('D3: only application/json is read, with or without a charset', async () => {
    const { apiKey } = await service.addPartner();
    const body = batch(null);
    const accepted = [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/json ; charset="utf-8"',
      'application/json;',
    ];
    const refused = [
      '',
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/json5',
      'application/vnd.api+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json, text/plain',
      'application',
      'json',
      '*/*',
      'application/ json',
      ';application/json',
      'x'.repeat(1_000),
    ];
    for (const url of [PRO, DEV]) {
      for (const type of accepted) {
        const answer = await call('POST', url, { 'X-API-Key': apiKey, 'Content-Type': type }, body);
        assert.equal(answer.status, 200, type);
      }
      for (const type of refused) {
        failure(await call('POST', url, { 'X-API-Key': apiKey, 'Content-Type': type }, body), 400, type);
      }
      failure(await call('POST', url, { 'X-API-Key': apiKey }, body), 400, 'none');
      failure(await call('POST', url, { 'X-API-Key': apiKey }), 400, 'no body at all');
    }
  });

  it('D3: a body of 4 MiB is read; one byte more gets 413', async () => {
    const { apiKey } = await service.addPartner();
    const pinned = await service.addPartner({ language: 'es' });
    const text = '{"aplicaciones": [null]}';
    const sized = (bytes: number) => text + ' '.repeat(bytes - text.length);
    const before = await storedApplications();
    for (const url of [PRO, DEV]) {
      assert.equal((await call('POST', url, keyed(apiKey), sized(4 * MIB))).status, 200);
      const spanish = { 'Accept-Language': 'es' };
      const over = await call('POST', url, keyed(apiKey, spanish), sized(4 * MIB + 1));
      assert.equal(languageOf(failure(over, 413)), 'en', 'D24: nothing but a pinned key makes a 413 Spanish');
      const chunked = keyed(apiKey, { 'Transfer-Encoding': 'chunked' });
      failure(await call('POST', url, chunked, sized(4 * MIB + 1)), 413, 'chunked');
      const nothing = head(
        'POST',
        new URL(url).pathname,
        keyed(apiKey, { 'Content-Length': `${4 * MIB + 1}` }),
      );
      assert.equal(
        (await exchange(service.url, [nothing], PATIENTLY)).answers[0]?.status,
        413,
        'before the body',
      );
      assert.equal((await call('POST', url, chunked, sized(4 * MIB))).status, 200, 'chunked');
      const inSpanish = await call('POST', url, keyed(pinned.apiKey), sized(4 * MIB + 1));
      assert.equal(languageOf(failure(inSpanish, 413)), 'es');
    }
    assert.equal(await storedApplications(), before);
  });

  it('D4: where both root names are present, applications is read unless it is null', async () => {
    const { apiKey } = await service.addPartner();
    const send = async (root: object) =>
      JSON.parse((await call('POST', DEV, keyed(apiKey), JSON.stringify(root))).text);
    const [one, other] = [anApplication({ id_number: 'e' }), anApplication({ id_number: 's' })];
    const english = await send({ aplicaciones: [other], applications: [one] });
    assert.equal(english.results[0].id_number, 'e');
    const spanish = await send({ applications: null, aplicaciones: [other] });
    assert.equal(spanish.resultados[0].cedula, 's');
    for (const applications of [5, 'x', {}, []]) {
      const answer = await call(
        'POST',
        DEV,
        keyed(apiKey),
        JSON.stringify({ applications, aplicaciones: [other] }),
      );
      assert.equal(languageOf(failure(answer, 400)), 'en');
    }
  });
});

describe('language (D24)', () => {
  const HEADERS: [string | undefined, 'en' | 'es'][] = [
    [undefined, 'en'],
    ['es-CO,en;q=0.5', 'es'],
  ];
  const asking = (header: string | undefined): Record<string, string> =>
    header === undefined ? {} : { 'Accept-Language': header };

  it('D24: POST: the root name decides against Accept-Language, for error texts too', async () => {
    const { apiKey } = await service.addPartner();
    for (const [header] of HEADERS) {
      for (const url of [PRO, DEV]) {
        const english = await call('POST', url, keyed(apiKey, asking(header)), batch({ nombre: 'x' }));
        const { errors_detail } = JSON.parse(english.text);
        assert.match(errors_detail[0].error, /^id_number is required; /);
        const body = JSON.stringify({ aplicaciones: [{ name: 'x' }] });
        const { errores_detalle } = JSON.parse(
          (await call('POST', url, keyed(apiKey, asking(header)), body)).text,
        );
        assert.match(errores_detalle[0].error, /^cedula es requerido; /);
      }
    }
  });

  it('D24: GET: Accept-Language decides', async () => {
    const { apiKey } = await service.addPartner();
    for (const [header, language] of HEADERS) {
      for (const url of [PRO, DEV]) {
        const { partner } = JSON.parse(
          (await call('GET', url, { 'X-API-Key': apiKey, ...asking(header) })).text,
        );
        assert.equal('pais' in partner, language === 'es', header);
        assert.equal('country' in partner, language === 'en', header);
      }
    }
  });

  it('D24: a pinned key wins over the root name and over Accept-Language', async () => {
    for (const pinned of ['en', 'es'] as const) {
      const { apiKey } = await service.addPartner({ language: pinned });
      for (const [header] of HEADERS) {
        for (const url of [PRO, DEV]) {
          const { partner } = JSON.parse(
            (await call('GET', url, { 'X-API-Key': apiKey, ...asking(header) })).text,
          );
          assert.equal('pais' in partner, pinned === 'es');
          for (const root of ['applications', 'aplicaciones']) {
            const body = JSON.stringify({ [root]: [{}] });
            const answer = JSON.parse((await call('POST', url, keyed(apiKey, asking(header)), body)).text);
            const details = pinned === 'es' ? answer.errores_detalle : answer.errors_detail;
            assert.match(details[0].error, pinned === 'es' ? /^nombre es requerido/ : /^name is required/);
          }
        }
      }
    }
  });

  it('D24: for 401, 404 and 405 Accept-Language decides, because they come before the key', async () => {
    const pinned = await service.addPartner({ language: 'es', environment: 'DEV' });
    for (const [header, language] of HEADERS) {
      const early: [string, string, Record<string, string>, number][] = [
        ['GET', PRO, {}, 401],
        ['POST', PRO, { 'X-API-Key': UNKNOWN_KEY }, 401],
        ['POST', PRO, keyed(pinned.apiKey), 401],
        ['GET', `${service.url}/x`, { 'X-API-Key': pinned.apiKey }, 404],
        ['PUT', DEV, { 'X-API-Key': pinned.apiKey }, 405],
      ];
      for (const [method, url, headers, status] of early) {
        const body = method === 'POST' ? '{"aplicaciones": [{}]}' : undefined;
        const answer = await call(method, url, { ...headers, ...asking(header) }, body);
        assert.equal(languageOf(failure(answer, status)), language, `${method} ${status} ${header}`);
      }
    }
  });

  /** Failures before the root name is read: JSON, content type, encoding, Idempotency-Key. */
  const BEFORE_ROOT: [string, Record<string, string>, string | Uint8Array][] = [
    ['JSON', {}, '{"aplicaciones": ['],
    ['no body', {}, ''],
    ['no object', {}, '[]'],
    ['too many values', {}, JSON.stringify({ aplicaciones: new Array(50_000).fill(1000) })],
    ['content type', { 'Content-Type': 'text/plain' }, '{"aplicaciones": [{}]}'],
    ['encoding', {}, Buffer.from('{"aplicaciones": ["é"]}', 'latin1')],
    ['Idempotency-Key', { 'Idempotency-Key': 'x'.repeat(256) }, '{"aplicaciones": [{}]}'],
    ['Idempotency-Key, not ASCII', { 'Idempotency-Key': 'é' }, '{"aplicaciones": [{}]}'],
  ];

  it('D24: for a 400 before the root name is read, Accept-Language or the pinned key decides', async () => {
    for (const setting of ['auto', 'en', 'es'] as const) {
      const { apiKey } = await service.addPartner({ language: setting });
      for (const [header, preferred] of HEADERS) {
        for (const [what, headers, body] of BEFORE_ROOT) {
          const answer = await call('POST', PRO, keyed(apiKey, { ...headers, ...asking(header) }), body);
          const language = setting === 'auto' ? preferred : setting;
          assert.equal(languageOf(failure(answer, 400, what)), language, `${what} ${setting} ${header}`);
        }
      }
    }
  });

  it('D24: for a 400 after the root name is read, the root name or the pinned key decides; an unknown root name is English', async () => {
    const after: [object, 'en' | 'es'][] = [];
    for (const value of [5, 'x', {}, [], new Array(101).fill(null)]) {
      after.push([{ applications: value }, 'en'], [{ aplicaciones: value }, 'es']);
    }
    after.push([{}, 'en'], [{ solicitudes: [{}] }, 'en'], [{ aplicaciones: null }, 'en']);
    for (const setting of ['auto', 'en', 'es'] as const) {
      const { apiKey } = await service.addPartner({ language: setting });
      for (const [header] of HEADERS) {
        for (const [root, byRoot] of after) {
          const answer = await call('POST', PRO, keyed(apiKey, asking(header)), JSON.stringify(root));
          const language = setting === 'auto' ? byRoot : setting;
          assert.equal(
            languageOf(failure(answer, 400)),
            language,
            `${JSON.stringify(root).slice(0, 40)} ${setting}`,
          );
        }
      }
    }
  });

  it('D24, D36: the refusal of a reused Idempotency-Key is in the language of the root name', async () => {
    const { apiKey } = await service.addPartner();
    const headers = keyed(apiKey, { 'Idempotency-Key': 'k', 'Accept-Language': 'es' });
    assert.equal((await call('POST', PRO, headers, batch(anApplication()))).status, 200);
    assert.equal(languageOf(failure(await call('POST', PRO, headers, batch(anApplication())), 400)), 'en');
    const spanish = keyed(apiKey, { 'Idempotency-Key': 'k', 'Accept-Language': 'en' });
    const body = JSON.stringify({ aplicaciones: [anApplication()] });
    assert.equal(languageOf(failure(await call('POST', PRO, spanish, body), 400)), 'es');
  });
});

describe('DEV (contract "Submit a batch" 4; D19, D32)', () => {
  const outcomes = {
    approved: {},
    offer: IN_REVIEW,
    rejected: REJECTED,
  };

  it('D31, D32: would_notify has type, destination and template, and is there only with consent and a phone', async () => {
    const { apiKey } = await service.addPartner();
    const branded = await service.addPartner({ templates: { approved: 'acme_yes', rejected: 'acme_no' } });
    for (const [type, changes] of Object.entries(outcomes)) {
      const application = anApplication({ ...changes, phone: '300-123 4567' });
      const expected = { type, destination: '+573001234567', template: `ventanilla_${type}` };
      const { body } = await post(DEV, apiKey, { applications: [application] });
      const [result] = (body as { results: Record<string, unknown>[] }).results;
      assert.equal(JSON.stringify(result?.would_notify), JSON.stringify(expected));
      assert.deepEqual([result?.id, result?.simulated], [null, true]);

      const brand: Record<string, string> = { approved: 'acme_yes', rejected: 'acme_no' };
      const other = await post(DEV, branded.apiKey, { aplicaciones: [application] });
      const [spanish] = (other.body as { resultados: Record<string, unknown>[] }).resultados;
      assert.deepEqual(spanish?.would_notify, { ...expected, template: brand[type] ?? expected.template });

      for (const silent of [{ messaging_optin: false }, { phone: null }, { phone: ' ' }]) {
        const quiet = await post(DEV, apiKey, { applications: [{ ...application, ...silent }] });
        const keys = Object.keys((quiet.body as { results: object[] }).results[0] as object);
        assert.deepEqual(keys, ['id_number', 'name', 'id', 'score', 'decision', 'status', 'simulated']);
      }
    }
  });

  it('D32, D50: would_notify names the template that tells the reasons where the brand asks for it', async () => {
    const plain = await service.addPartner();
    const always = await service.addPartner({ rejected_reasons: true });
    const own = await service.addPartner({
      rejected_reasons: true,
      templates: { rejected_reasons: 'acme_why' },
    });
    for (const [{ apiKey }, phone, template] of [
      [plain, '+56987654321', 'ventanilla_rejected'],
      [own, '+56987654321', 'acme_why'],
      [plain, '+573001234567', 'ventanilla_rejected'],
      [always, '+573001234567', 'ventanilla_rejected_reasons'],
    ] as const) {
      const applications = [anApplication({ ...REJECTED, phone })];
      const { body } = await post(DEV, apiKey, { applications });
      const [result] = (body as { results: { would_notify: object }[] }).results;
      assert.deepEqual(result?.would_notify, { type: 'rejected', destination: phone, template });
    }
  });

  it('D11, D32: the destination is the E.164 form of what was sent, before any folding', async () => {
    const { apiKey } = await service.addPartner();
    const destinations = {
      '+5215512345678': '+5215512345678',
      '+5491123456789': '+5491123456789',
      '+551187654321': '+551187654321',
      '+593 98 765 4321': '+593987654321',
      '+593 098 765 4321': '+593987654321',
      '+593 (0)98 765 4321': '+593987654321',
      '+54 011 15 2345-6789': '+5491123456789',
      '+52 044 55 1234 5678': '+525512345678',
    };
    for (const [phone, destination] of Object.entries(destinations)) {
      const { body } = await post(DEV, apiKey, { applications: [anApplication({ phone })] });
      const [result] = (body as { results: { would_notify: { destination: string } }[] }).results;
      assert.equal(result?.would_notify.destination, destination, phone);
    }
  });

  it('D11: spellings with and without trunk digits are one phone, and a phone of no country is refused', async () => {
    const { apiKey } = await service.addPartner();
    const phones = [
      ...['+593 98 765 4321', '+593 098 765 4321', '+593 (0)98 765 4321', '00593 98 765 4321'],
      ...['(1) 234 5678', '+57 300 123 456', '+593 98 765 4321 ext 2'],
    ];
    const { body } = await post(PRO, apiKey, {
      applications: phones.map((phone) => anApplication({ phone })),
    });
    const { results, errors_detail } = body as { results: object[]; errors_detail: { error: string }[] };
    assert.equal(results.length, 1);
    assert.deepEqual(
      errors_detail.map(({ error }) => error),
      [
        ...Array(3).fill('a request already exists for this messaging-channel number'),
        ...Array(3).fill('phone must be a number with country code'),
      ],
    );
  });

  it('contract: PRO has neither mode, simulated nor would_notify', async () => {
    const { apiKey } = await service.addPartner();
    for (const changes of Object.values(outcomes)) {
      const { body } = await post(PRO, apiKey, { applications: [anApplication(changes)] });
      assert.deepEqual(Object.keys(body), ['processed', 'errors', 'results']);
      const keys = Object.keys((body as { results: object[] }).results[0] as object);
      assert.deepEqual(keys, ['id_number', 'name', 'id', 'score', 'decision', 'status']);
    }
  });

  it('contract "Submit a batch" 4, D19: DEV stores, sends and counts nothing, and takes the same data again', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 1 });
    /** Usage by partner alone: the upkeep adds up what others have used. */
    const dump = async () => {
      const counts = [
        ...['applications', 'messages', 'batch_receipts', 'application_events'].map(
          (table) => `(SELECT count(*) FROM ${table}) AS ${table}`,
        ),
        '(SELECT count(*) FROM usage_entries WHERE partner_id = $1) AS usage_entries',
        '(SELECT sum(total) FROM usage_totals WHERE partner_id = $1) AS usage_totals',
      ];
      return (await service.database.query(`SELECT ${counts.join(', ')}`, [partnerId])).rows;
    };
    const application = anApplication();
    const applications = [application, application, { ...application }];
    const before = await dump();
    const answers = [];
    for (let times = 0; times < 3; times++) {
      const { text } = await post(DEV, apiKey, { applications }, { 'Idempotency-Key': 'same' });
      answers.push(text);
      assert.equal(JSON.parse(text).processed, 3);
    }
    assert.equal(new Set(answers).size, 1);
    assert.deepEqual(await dump(), before);
    const { partner } = JSON.parse((await call('GET', DEV, { 'X-API-Key': apiKey })).text);
    assert.deepEqual([partner.used_24h, partner.remaining], [0, 1]);
  });

  it('D19: an open application on PRO makes no duplicate on DEV', async () => {
    const { apiKey } = await service.addPartner();
    const application = anApplication();
    assert.equal((await post(PRO, apiKey, { applications: [application] })).status, 200);
    const { body } = await post(DEV, apiKey, { applications: [application] });
    assert.equal((body as { processed: number }).processed, 1);
  });

  it('D36: on DEV an Idempotency-Key of any form means nothing', async () => {
    const { apiKey } = await service.addPartner();
    for (const value of ['', 'x'.repeat(300), 'é']) {
      const answer = await call(
        'POST',
        DEV,
        keyed(apiKey, { 'Idempotency-Key': value }),
        batch(anApplication()),
      );
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['idempotency-replayed'], undefined);
    }
  });
});
