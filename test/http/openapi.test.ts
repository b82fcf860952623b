/** The service follows its OpenAPI document: each test sends every example and checks every answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { namedFields } from '../../src/domain/application/fields.ts';
import { applicationIdAt, batchAndPositionOf, toBatchId } from '../../src/domain/application/ids.ts';
import type { Problem } from '../../src/domain/application/read-application.ts';
import { ENVIRONMENTS, type Environment, type PartnerId } from '../../src/domain/partner/credential.ts';
import { LANGUAGES, type Language } from '../../src/ground/base/language.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import { faultCatalogue, problemsOf } from '../../src/wire/contract/catalogue.ts';
import { batchExamples, EXAMPLE_DAILY_CAP, quotaExamples } from '../../src/wire/contract/examples.ts';
import {
  applicationExample,
  feedExamples,
  foundExamples,
  searchExamples,
} from '../../src/wire/contract/examples-reads.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';
import {
  MAX_BODY_BYTES,
  MAX_VALUES,
  type RequestProblem,
  requestStatus,
  requestText,
} from '../../src/wire/contract/texts.ts';
import { exchange } from '../gate/raw.ts';
import { checkerOf, documentedForm, pointer } from '../support/openapi.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const service = await testService();
const load = async (path: string) => (await (await fetch(service.url + path)).json()) as Schema;
const documents: Record<Language, Schema> = {
  en: await load('/openapi.json'),
  es: await load('/openapi.es.json'),
};
const checkers = {
  en: checkerOf(documents.en, { closed: true }),
  es: checkerOf(documents.es, { closed: true }),
};
const fields = namedFields('messaging');
const { apiKey } = await service.addPartner();

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The place of an operation's answer in the document. */
function responseAt(environment: string, method: string, status: number): string {
  return pointer('paths', `/${environment}`, method, 'responses', status);
}

function described(path: string, language: Language = 'en'): Record<string, { $ref: string }> {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/'))
    .reduce((value: never, part) => value[part], documents[language] as never);
}

/** Checks body and headers against the document of a language at `response`. */
function check(response: string, { headers, body }: Answer, what: string, language: Language = 'en'): void {
  const checker = checkers[language];
  assert.equal(headers.get('content-type'), 'application/json', what);
  checker.check(`${response}/content/application~1json/schema`, body, what);
  const named = described(`${response}/headers`, language) ?? {};
  for (const [name, { $ref }] of Object.entries(named)) {
    const path = $ref.slice(1);
    const value = headers.get(name);
    const { required } = described(path) as unknown as { required?: boolean };
    if (value === null) assert.notEqual(required, true, `${what} has no ${name}`);
    else checker.check(`${path}/schema`, name === 'Retry-After' ? Number(value) : value, `${what} ${name}`);
  }
}

/** The answer as it would be for the first batch of a store. */
const ofFirstBatch = (answer: object) =>
  JSON.parse(JSON.stringify(answer), (key, value) =>
    key === 'id' && value !== null
      ? applicationIdAt(toBatchId(1), batchAndPositionOf(value).position)
      : value,
  );

describe('the examples of the OpenAPI document, on the service', () => {
  for (const environment of ENVIRONMENTS) {
    for (const language of LANGUAGES) {
      for (const { name, request, answer } of batchExamples(fields, environment, language)) {
        it(`POST ${environment}, ${name}, ${language}`, async (t) => {
          t.after(() => emptyApplications(service.database));
          await emptyApplications(service.database);
          const partner = await service.addPartner({ dailyCap: EXAMPLE_DAILY_CAP });
          const got = await post(`${service.url}/${environment}`, partner.apiKey, request);
          assert.equal(got.status, 200);
          check(responseAt(environment, 'post', 200), got, name, language);
          assert.equal(JSON.stringify(ofFirstBatch(got.body)), JSON.stringify(answer));
          const { examples } = described(
            `${responseAt(environment, 'post', 200)}/content/application~1json`,
            language,
          ) as never as { examples: Record<string, { value: object }> };
          assert.deepEqual(examples[name]?.value, answer);
        });
      }

      it(`GET ${environment}, with and without a cap, ${language}`, async () => {
        for (const [name, example] of Object.entries(quotaExamples(environment, language))) {
          const partner = await service.addPartner({ dailyCap: name === 'capped' ? 500 : null });
          const headers = { 'X-API-Key': partner.apiKey, 'Accept-Language': language };
          const response = await fetch(`${service.url}/${environment}`, { headers });
          const body = (await response.json()) as { partner: object };
          const at = responseAt(environment, 'get', 200);
          check(at, { ...response, headers: response.headers, body }, name, language);
          const { partner: of, ...rest } = example as { partner: object };
          assert.deepEqual(Object.keys(body), ['partner', ...Object.keys(rest)]);
          assert.deepEqual(Object.keys(body.partner), Object.keys(of));
        }
      });
    }
  }

  for (const language of LANGUAGES) {
    it(`D41: GET /PRO/events and one application, ${language}`, async () => {
      const partner = await service.addPartner({ language });
      const { body } = await post(`${service.url}/PRO`, partner.apiKey, { applications: [anApplication()] });
      const [{ id }] = Object.values(body as Record<string, { id: number }[]>).find(Array.isArray) as [
        { id: number },
      ];
      const types = ['application.interested', 'message.failed', 'application.status_changed'];
      for (const type of types) await addEvent(partner.partnerId, id, type);
      const ask = async (path: string) => {
        const response = await fetch(service.url + path, { headers: { 'X-API-Key': partner.apiKey } });
        return { status: response.status, headers: response.headers, body: await response.json() };
      };
      const page = await ask('/PRO/events?limit=3');
      const at = (path: string) => pointer('paths', path, 'get', 'responses', 200);
      check(at('/PRO/events'), page, 'events', language);
      const { events } = page.body as { events: { type: string }[] };
      assert.deepEqual(
        events.map(({ type }) => type),
        types,
      );
      const end = await ask(`/PRO/events?after=${(page.body as { next: string }).next}`);
      check(at('/PRO/events'), end, 'no events', language);
      const application = await ask(`/PRO/applications/${id}`);
      check(at('/PRO/applications/{id}'), application, 'application', language);
      assert.deepEqual(Object.keys(application.body as object), Object.keys(applicationExample(language)));
      for (const [example, sent] of [
        [feedExamples().page, page],
        [feedExamples().end, end],
      ] as const) {
        assert.deepEqual(Object.keys(sent.body as object), Object.keys(example));
      }
    });
  }

  for (const environment of ENVIRONMENTS) {
    for (const language of LANGUAGES) {
      it(`D56: a search, ${environment}, ${language}`, async () => {
        const partner = await service.addPartner({ language });
        const applications = [anApplication({ id_number: '1020304050' }), anApplication()];
        await post(`${service.url}/PRO`, partner.apiKey, { applications });
        const path = `/${environment}/applications/search`;
        const at = pointer('paths', path, 'post', 'responses', 200);
        const today = { day: new Date().toISOString().slice(0, 10) };
        const { person } = searchExamples(language);
        for (const [body, example] of [
          [{ ...today, limit: 1 }, 'page'],
          [person, 'last'],
        ] as const) {
          checkers[language].check('/components/schemas/Search', body, 'search');
          const got = await post(service.url + path, partner.apiKey, body);
          assert.equal(got.status, 200);
          check(at, got, example, language);
          const expected = foundExamples(environment, language);
          assert.deepEqual(Object.keys(got.body as object), Object.keys(expected[example] ?? expected.last!));
          const [found] = Object.values(got.body as Record<string, object[]>);
          assert.equal(found!.length, environment === 'PRO' ? 1 : 0);
        }
      });
    }
  }

  /** An event of a type, as if it had happened. */
  async function addEvent(partnerId: PartnerId, id: number, type: string) {
    await service.database.query(
      `SELECT add_partner_events($1, ARRAY[$2::integer], ARRAY[$3::bigint], 'in_review', 'rejected', 'offer_expired', '{offer}')`,
      [type, partnerId, id],
    );
  }

  it('D36: a replay carries the header that the document describes', async () => {
    const body = { applications: [anApplication()] };
    const headers = {
      'Idempotency-Key': described('/components/parameters/IdempotencyKey').example as never,
    };
    checkers.en.check('/components/parameters/IdempotencyKey/schema', headers['Idempotency-Key'], 'key');
    const answers = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const got = await post(`${service.url}/PRO`, apiKey, body, headers);
      check(responseAt('PRO', 'post', 200), got, 'replay');
      answers.push(got);
    }
    assert.deepEqual(
      answers.map((answer) => answer.headers.get('idempotency-replayed')),
      [null, 'true'],
    );
  });
});

describe('the failures of the OpenAPI document, on the service', async () => {
  const pinned = Object.fromEntries(
    await Promise.all(
      LANGUAGES.map(async (language) => [language, (await service.addPartner({ language })).apiKey]),
    ),
  ) as Record<Language, string>;
  const keyFor = {
    PRO: (await service.addPartner({ environment: 'PRO' })).apiKey,
    DEV: (await service.addPartner({ environment: 'DEV' })).apiKey,
  };
  const oversize = 'x'.repeat(MAX_BODY_BYTES + 1);
  const many = { applications: Array.from({ length: 101 }, () => 1) };

  interface Sending {
    readonly method?: string;
    readonly path?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  }
  type SearchProblem = 'bad_search' | 'bad_id_number' | 'bad_day' | 'bad_page_size' | 'bad_page_cursor';
  type SentProblem = Exclude<
    RequestProblem,
    | 'bad_request'
    | 'no_page'
    | 'only_get'
    | 'bad_limit'
    | 'bad_cursor'
    | 'bad_types'
    | 'cursor_gone'
    | SearchProblem
  >;
  /** A request for each problem of a batch or a quota, except `bad_request`, which needs bytes that are not HTTP. */
  const SENDINGS: Record<SentProblem, Sending> = {
    unauthorized: { headers: { 'X-API-Key': 'none' } },
    key_for_pro: { headers: { 'X-API-Key': keyFor.PRO } },
    key_for_dev: { headers: { 'X-API-Key': keyFor.DEV } },
    not_found: { path: '/pro' },
    method_not_allowed: { method: 'PUT' },
    content_type: { headers: { 'Content-Type': 'text/plain' } },
    compressed: { body: gzipSync('{}'), headers: { 'Content-Encoding': 'gzip' } },
    byte_order_mark: { body: '\ufeff{}' },
    not_utf8: { body: Buffer.from([0x22, 0xff, 0x22]) },
    not_json: { body: '{' },
    not_an_object: { body: '[]' },
    no_applications: { body: '{}' },
    empty_batch: { body: { applications: [] } },
    too_many: { body: many },
    too_large: { body: oversize },
    too_many_values: { body: `{"applications": [{"x": [${'0,'.repeat(MAX_VALUES)}0]}]}` },
    idempotency_key: { headers: { 'Idempotency-Key': 'ñ' } },
    idempotency_reuse: { headers: { 'Idempotency-Key': 'used' } },
    internal: {},
  };

  async function send(
    { method = 'POST', path, body = { applications: [1] }, headers = {} }: Sending,
    environment: Environment,
    language: Language,
  ): Promise<Answer> {
    const bytes = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${service.url}${path ?? `/${environment}`}`, {
      method,
      headers: {
        'X-API-Key': pinned[language],
        'Content-Type': 'application/json',
        'Accept-Language': language,
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: bytes as string }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Hides the table of the keys while `act` runs. */
  async function withoutStore(act: () => Promise<void>): Promise<void> {
    await service.database.query('ALTER TABLE api_keys RENAME TO api_keys_away');
    try {
      await act();
    } finally {
      await service.database.query('ALTER TABLE api_keys_away RENAME TO api_keys');
    }
  }

  for (const environment of ENVIRONMENTS) {
    for (const method of ['get', 'post'] as const) {
      const operation = method === 'get' ? 'quota' : 'submit';
      it(`contract "HTTP codes", D1-D3, D36, D37: ${method} ${environment}`, async () => {
        for (const language of LANGUAGES) {
          const used = { 'Idempotency-Key': 'used' };
          await send({ body: { applications: [2] }, headers: used }, environment, language);
          for (const problem of problemsOf(operation, environment)) {
            if (problem === 'bad_request') continue;
            const sending = SENDINGS[problem as SentProblem];
            const act = async () => {
              const answer = await send(
                { ...sending, method: sending.method ?? method.toUpperCase() },
                environment,
                language,
              );
              assert.equal(answer.status, requestStatus(problem), problem);
              assert.deepEqual(answer.body, { error: requestText(problem, language) });
              for (const one of LANGUAGES) {
                check(responseAt(environment, method, answer.status), answer, problem, one);
              }
            };
            if (problem === 'internal') await withoutStore(act);
            else await act();
          }
        }
      });
    }
  }

  it('D56, D3: the failures of a search, in both languages', async () => {
    const sendings: Record<SearchProblem, object> = {
      bad_search: { id_number: '1', day: '2026-11-22' },
      bad_id_number: { id_number: 1 },
      bad_day: { day: '2026-02-30' },
      bad_page_size: { day: '2026-11-22', limit: 101 },
      bad_page_cursor: { day: '2026-11-22', cursor: 'x' },
    };
    for (const environment of ENVIRONMENTS) {
      for (const language of LANGUAGES) {
        for (const problem of problemsOf('search', environment)) {
          if (problem === 'bad_request') continue;
          const path = `/${environment}/applications/search`;
          const body = sendings[problem as SearchProblem] ?? { day: '2026-11-22' };
          const act = async () => {
            const sending = SENDINGS[problem as SentProblem];
            const answer = await send({ body, path, ...sending }, environment, language);
            assert.equal(answer.status, requestStatus(problem), problem);
            assert.deepEqual(answer.body, { error: requestText(problem, language) });
            const at = pointer('paths', path, 'post', 'responses', answer.status);
            for (const one of LANGUAGES) check(at, answer, problem, one);
          };
          if (problem === 'internal') await withoutStore(act);
          else await act();
        }
      }
    }
  });

  it('D41: the failures of the requests under /PRO, in both languages', async () => {
    const paths = { events: '/PRO/events', application: '/PRO/applications/{id}' } as const;
    const partner = await service.addPartner();
    const cursor = eventIdOf(service.vault, partner.partnerId, 1);
    const sendings: Partial<Record<RequestProblem, { query?: string; method?: string; key?: string }>> = {
      unauthorized: { key: 'none' },
      key_for_dev: { key: keyFor.DEV },
      not_found: {},
      only_get: { method: 'DELETE' },
      bad_limit: { query: '?limit=0' },
      bad_cursor: { query: '?after=x' },
      bad_types: { query: '?types=application.interested,nothing' },
      // No event has this number: the answer is as for a deleted one.
      cursor_gone: { query: `?after=${cursor}` },
      internal: {},
    };
    for (const operation of ['events', 'application'] as const) {
      for (const problem of problemsOf(operation, 'PRO')) {
        const sending = sendings[problem];
        if (sending === undefined) {
          assert.equal(problem, 'bad_request');
          continue;
        }
        for (const language of LANGUAGES) {
          const path = paths[operation];
          const act = async () => {
            const response = await fetch(`${service.url}${path.replace('{id}', '1')}${sending.query ?? ''}`, {
              method: sending.method ?? 'GET',
              headers: { 'X-API-Key': sending.key ?? partner.apiKey, 'Accept-Language': language },
            });
            const { status, headers } = response;
            const body = await response.json();
            assert.equal(status, requestStatus(problem), problem);
            assert.deepEqual(body, { error: requestText(problem, language) });
            const at = pointer('paths', path, 'get', 'responses', status);
            for (const one of LANGUAGES) check(at, { status, headers, body }, problem, one);
          };
          if (problem === 'internal') await withoutStore(act);
          else await act();
        }
      }
    }
  });

  it('D1: an unknown path gets the NotFound of the document', async () => {
    for (const language of LANGUAGES) {
      const answer = await send(SENDINGS.not_found, 'PRO', language);
      assert.equal(answer.status, 404);
      check('/components/responses/NotFound', answer, language, language);
    }
  });

  it('D3: bytes that are not HTTP get a 400 of the document', async () => {
    const { answers } = await exchange(service.url, ['GET /PRO HTTP/9\r\n\r\n']);
    assert.equal(answers[0]?.status, 400);
    const body = JSON.parse(answers[0]?.body ?? '');
    checkers.en.check(
      `${responseAt('PRO', 'get', 400)}/content/application~1json/schema`,
      body,
      'bad request',
    );
  });
});

describe('batches and the schemas of requests', () => {
  const BAD: Record<Problem, unknown> = {
    required: ' ',
    amount: 0,
    choice: 'x',
    consent: 'true',
    phone: 'x',
    text: [],
    instant: '2026-02-30',
  };

  it('D14, D26: the service answers every text of the catalogue, and the document lists every text', async () => {
    for (const [language, root] of [
      ['en', 'applications'],
      ['es', 'aplicaciones'],
    ] as const) {
      const faults = faultCatalogue(fields);
      const elements = faults.map(({ field, problem }) => {
        const { [field.name]: _, ...others } = anApplication();
        return { ...others, [language === 'en' ? field.name : field.aliases[0]]: BAD[problem] };
      });
      const { body } = await post(`${service.url}/DEV`, apiKey, { [root]: elements });
      const answer = { status: 200, headers: JSON_HEADERS, body };
      check(responseAt('DEV', 'post', 200), answer, language, language);
      const entries = Object.values(body as Record<string, { error: string }[]>).at(-2) ?? [];
      assert.deepEqual(
        entries.map(({ error }) => error),
        faults.map(({ texts }) => texts[language]),
      );
      const listed = described('/components/schemas/ErrorEntry/oneOf/0/properties/error', language);
      assert.deepEqual(
        listed.examples,
        faults.map(({ texts }) => texts[language]),
      );
    }
  });

  const JSON_HEADERS = new Headers({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': '00000000-0000-4000-8000-000000000000',
  });

  it('D3, D4: a request fails as a whole exactly where its body without the elements matches neither document', async () => {
    // Elements fail one by one, so this schema leaves them out.
    const lax = LANGUAGES.map((language) =>
      checkerOf(
        JSON.parse(JSON.stringify(documents[language]), (key, value) => (key === 'items' ? {} : value)),
      ),
    );
    const list = fc.oneof(
      fc.constantFrom(0, 1, 100, 101).map((length) => Array.from({ length }, () => null)),
      fc.constantFrom<unknown>(null, undefined, {}, 'x', 1),
    );
    const body = fc.oneof(
      fc.record({ applications: list, aplicaciones: list, other: list }, { requiredKeys: [] }),
      fc.jsonValue(),
    );
    const schema = `${pointer('paths', '/DEV', 'post')}/requestBody/content/application~1json/schema`;
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const text = JSON.stringify(sent);
        const { status } = await post(`${service.url}/DEV`, apiKey, text);
        const matches = lax.some((checker) => checker.matches(schema, JSON.parse(text)));
        assert.equal(status, matches ? 200 : 400);
      }),
      { numRuns: 150 },
    );
  });

  it('D5-D14: in any batch, exactly the elements whose documented form matches are registered; every answer matches too', async () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(null, '', ' 3001234567 ', 0, 1, '2', 'x', true, [], 'GT2', 'si', '1e3'),
      fc.string({ unit: 'binary', maxLength: 70 }),
    );
    const names = fields.flatMap((field) => field.names);
    const changes = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 2 });
    const element = fc.oneof(
      { weight: 8, arbitrary: changes.map((changed) => anApplication(changed)) },
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(element, { minLength: 1, maxLength: 20 }), async (elements) => {
        const sent = JSON.parse(JSON.stringify(elements)) as unknown[];
        const got = await post(`${service.url}/DEV`, apiKey, { applications: sent });
        check(responseAt('DEV', 'post', 200), got, 'random batch');
        const matching = sent.filter((one) =>
          checkers.en.matches('/components/schemas/Application', documentedForm(one, fields)),
        );
        assert.equal((got.body as { processed: number }).processed, matching.length);
      }),
      // What is registered is compared without a service in test/contract/openapi.test.ts.
      { numRuns: 25 },
    );
  });
});
