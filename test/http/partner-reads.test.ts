/** `GET /PRO/events` and `GET /PRO/applications/{id}` over HTTP (D41; D1, D2, D20, D21, D24, D25). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import { markConversations, writeSignature } from '../../src/subjects/applications/sql/application-marks.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { rejectWithdrawn } from '../../src/subjects/signing/uses/withdraw.ts';
import { commandLine } from '../cli/harness.ts';
import { exchange, head } from '../gate/raw.ts';
import { ABOVE_LIMIT, APPROVED, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { batchOf } from '../support/stored-applications.ts';

const service = await testService();
const { database, vault } = service;
const { json, run } = commandLine(service);

interface Event {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly id: number; readonly id_number: string | null };
}
interface Page {
  readonly events: readonly Event[];
  readonly next: string;
  readonly has_more: boolean;
}

async function get<T = Page>(path: string, apiKey: string | null, headers: Record<string, string> = {}) {
  const response = await fetch(service.url + path, {
    headers: apiKey === null ? headers : { 'X-API-Key': apiKey, ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as T };
}
const feed = (apiKey: string, query = '') => get(`/PRO/events${query}`, apiKey);

/** An application in review. */

async function register(apiKey: string, ...changes: object[]) {
  const applications = changes.map((change) => anApplication({ ...IN_REVIEW, ...change }));
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  const { results } = body as { results: { id: number; id_number: string }[] };
  return results.map((result, index) => ({ ...result, phone: applications[index]!.phone as string }));
}
const approve = (id: number) =>
  json('application', 'approve', `${id}`, '--reason', 'looks fine', '--reason-code', 'income_verified');
const tap = (id: number, phone: string) =>
  applyChannelEvents({ database, vault }, [
    {
      kind: 'tap',
      from: toPhone(phone),
      payload: interestPayload(toApplicationId(id)),
      title: null,
      contextMessageId: null,
      at: new Date(),
    },
  ]);

describe('GET /PRO/events', () => {
  it('D41: a review and a tap are in the feed as soon as they are answered, in their order', async () => {
    const { apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    const { id, id_number, phone } = one!;
    await tap(id, phone);
    await tap(id, phone);
    await approve(id);
    await json('application', 'disburse', `${id}`, '--reason', 'paid');
    const { status, headers, body } = await feed(apiKey);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('cache-control'), 'no-store');
    // D50: those that the application itself has.
    const { reason_codes } = (await get<Record<string, unknown>>(`/PRO/applications/${id}`, apiKey)).body;
    assert.deepEqual(reason_codes, ['capacity_below_1_5', 'debt_2_years', 'no_history', 'two_debts']);
    const changed = (from: string, to: string, reason_code: string) => ({
      type: 'application.status_changed',
      data: { id, id_number, from, to, reason_code, reason_codes },
    });
    assert.deepEqual(
      body.events.map(({ type, data }) => ({ type, data })),
      [
        { type: 'application.interested', data: { id, id_number } },
        changed('in_review', 'pending_signature', 'income_verified'),
        changed('pending_signature', 'disbursed', 'unspecified'),
      ],
    );
    for (const event of body.events) {
      assert.match(event.id, /^evt_[A-Za-z0-9_-]{27}$/);
      assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    }
    assert.deepEqual([body.next, body.has_more], [body.events[2]!.id, false]);
    const after = await feed(apiKey, `?after=${body.events[0]!.id}&limit=1`);
    assert.deepEqual(after.body, { events: [body.events[1]], next: body.events[1]!.id, has_more: true });
    const end = await feed(apiKey, `?after=${body.next}`);
    assert.deepEqual(end.body, { events: [], next: body.next, has_more: false });
  });

  it('D41: a partner without events gets a cursor too, and polls with it', async () => {
    const { apiKey } = await service.addPartner();
    const { body } = await feed(apiKey);
    assert.deepEqual(body, { events: [], next: body.next, has_more: false });
    assert.deepEqual((await feed(apiKey, `?after=${body.next}`)).body, body);
    const [one] = await register(apiKey, {});
    await approve(one!.id);
    assert.equal((await feed(apiKey, `?after=${body.next}`)).body.events.length, 1);
  });

  it('D41: 10,000 events come each once, in order, in pages of any size', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    await database.query(
      `SELECT add_partner_events('application.interested', array_fill($1::integer, ARRAY[10000]),
        array_fill($2::bigint, ARRAY[10000]), NULL, NULL, NULL, NULL)`,
      [partnerId, one!.id],
    );
    const seen: string[] = [];
    let after = '';
    for (let page = 0; ; page += 1) {
      const limit = [7, 500, 1, 100, 333][page % 5];
      const { body } = await feed(apiKey, `?limit=${limit}${after}`);
      seen.push(...body.events.map(({ id }) => id));
      assert.equal(body.has_more, seen.length < 10_000);
      if (!body.has_more) break;
      assert.equal(body.events.length, limit);
      after = `&after=${body.next}`;
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 10_000 }, (_, index) => eventIdOf(vault, partnerId, index + 1)),
    );
    assert.equal((await feed(apiKey)).body.events.length, 100);
  });

  it('D41: a cursor that is forged, cut or of another partner gets one and the same 400', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const other = await service.addPartner();
    const cursor = eventIdOf(vault, partnerId, 0);
    assert.equal((await feed(apiKey, `?after=${cursor}`)).status, 200);
    const wrong = [eventIdOf(vault, other.partnerId, 0), cursor.slice(0, -1), '', '%00'];
    const answers = new Set<string>();
    for (const text of wrong) {
      const { status, text: answer } = await feed(apiKey, `?after=${text}`);
      assert.equal(status, 400, text);
      answers.add(answer);
    }
    answers.add((await feed(apiKey, `?after=${cursor}&after=${cursor}`)).text);
    assert.deepEqual(
      [...answers],
      ['{"error":"after must be given at most once, as a cursor that this feed gave you"}'],
    );
  });

  it('D41: a cursor whose events are deleted gets 410; without a cursor the feed begins with the oldest that is kept', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    await approve(one!.id);
    await json('application', 'reject', `${one!.id}`, '--reason', 'withdrawn');
    const { body: before } = await feed(apiKey);
    await database.query('UPDATE partner_event_totals SET forgotten = 1 WHERE partner_id = $1', [partnerId]);
    await database.query('DELETE FROM partner_events WHERE partner_id = $1 AND number = 1', [partnerId]);
    for (const language of ['en', 'es']) {
      const gone = await get<{ error: string }>(
        `/PRO/events?after=${eventIdOf(vault, partnerId, 0)}`,
        apiKey,
        {
          'Accept-Language': language,
        },
      );
      assert.equal(gone.status, 410);
      assert.match(gone.body.error, language === 'en' ? /no longer kept/ : /ya no se conservan/);
    }
    assert.deepEqual((await feed(apiKey)).body.events, before.events.slice(1));
    assert.deepEqual(
      (await feed(apiKey, `?after=${before.events[0]!.id}`)).body.events,
      before.events.slice(1),
    );
    await database.query('UPDATE partner_event_totals SET forgotten = 2 WHERE partner_id = $1', [partnerId]);
    await database.query('DELETE FROM partner_events WHERE partner_id = $1', [partnerId]);
    const empty = (await feed(apiKey)).body;
    assert.deepEqual(empty, { events: [], next: before.events[1]!.id, has_more: false });
    assert.equal((await feed(apiKey, `?after=${empty.next}`)).status, 200);
  });
});

it('D37: where the store fails, both requests get a 500 with Retry-After', async () => {
  const { apiKey } = await service.addPartner();
  const [one] = await register(apiKey, {});
  for (const [table, path] of [
    ['partner_event_totals', '/PRO/events'],
    ['application_events', `/PRO/applications/${one!.id}`],
  ] as const) {
    await database.query(`ALTER TABLE ${table} RENAME TO away`);
    try {
      const { status, headers, text } = await get(path, apiKey);
      assert.deepEqual([status, text], [500, '{"error":"temporary internal error; retry"}']);
      assert.equal(headers.get('retry-after'), '1');
    } finally {
      await database.query(`ALTER TABLE away RENAME TO ${table}`);
    }
    assert.equal((await get(path, apiKey)).status, 200);
  }
});

describe('GET /PRO/applications/{id}', () => {
  it('D41: it tells the application as it is now, in the language of D24 and D25', async () => {
    const { apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    const { id, id_number } = one!;
    const path = `/PRO/applications/${id}`;
    const fresh = await get<Record<string, unknown>>(path, apiKey);
    const { created_at, updated_at, ...rest } = fresh.body;
    assert.equal(created_at, updated_at);
    assert.match(String(created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    const unsigned = { signed_at: null, withdrawn_at: null };
    // D50: 25, 18, 15 and 8 points were lost.
    const reason_codes = ['capacity_below_1_5', 'debt_2_years', 'no_history', 'two_debts'];
    const undecided = { decision: 'in_review', status: 'in_review', reason_code: null };
    assert.deepEqual(rest, { id, id_number, score: 34, ...undecided, reason_codes, ...unsigned });
    await approve(id);
    const spanish = await get<Record<string, unknown>>(`${path}/`, apiKey, { 'Accept-Language': 'es' });
    const { updated_at: moved, ...later } = spanish.body;
    const decided = { decision: 'en_revision', estado: 'firma_pendiente', reason_code: 'income_verified' };
    assert.deepEqual(later, {
      id,
      cedula: id_number,
      score: 34,
      ...decided,
      reason_codes,
      ...unsigned,
      created_at,
    });
    assert.ok(String(moved) > String(created_at));
    await json('application', 'disburse', `${id}`, '--reason', 'paid');
    for (const [language, name] of [
      ['en', 'status'],
      ['es', 'estado'],
    ] as const) {
      const { body } = await get<Record<string, unknown>>(path, apiKey, { 'Accept-Language': language });
      assert.equal(body[name], 'disbursed');
    }
  });

  it('D29, D41: a rejection by a limit says so, one by the score alone does not', async () => {
    const { apiKey } = await service.addPartner();
    // The income is more than the installment of 235,000, and the score is 26.
    const poor = { ...REJECTED, income: 300_000, debt_amount: 6_000_000 };
    const unpayable = { ...APPROVED, income: 1, debt_amount: 50_000_000 };
    const more = [ABOVE_LIMIT, { ...REJECTED, ...ABOVE_LIMIT }, unpayable];
    const [limit, both, installment, score] = await register(apiKey, ...more, poor);
    for (const [one, reason] of [
      [limit, 'amount_above_limit'],
      [both, 'amount_above_limit'],
      [installment, 'installment_above_income'],
      [score, null],
    ] as const) {
      const { body } = await get<Record<string, unknown>>(`/PRO/applications/${one!.id}`, apiKey);
      assert.deepEqual([body.status, body.reason_code], ['rejected', reason]);
      // D50: the limit comes first, also beside lost points.
      if (reason !== null) assert.equal((body.reason_codes as string[])[0], reason);
    }
  });

  it('D46, D41: a signed application has the time of the signature, and a withdrawn one that of the withdrawal', async () => {
    const { apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    await approve(one!.id);
    const signedAt = new Date('2026-11-22T16:07:30Z');
    const id = toApplicationId(one!.id);
    await inTransaction(database, async (session) => {
      await markConversations(session, [id]);
      await writeSignature(session, id, signedAt, null);
    });
    const state = () =>
      get<Record<string, unknown>>(`/PRO/applications/${id}`, apiKey).then(({ body }) => body);
    const signed = { signed_at: '2026-11-22T16:07:30.000+00:00' };
    const { status, reason_code, signed_at, withdrawn_at } = await state();
    assert.deepEqual(
      [status, reason_code, signed_at, withdrawn_at],
      ['pending_signature', 'income_verified', signed.signed_at, null],
    );
    await inTransaction(database, (session) => rejectWithdrawn(session, id));
    const later = await state();
    assert.equal(later.withdrawn_at, later.updated_at);
    assert.deepEqual(
      [later.status, later.reason_code, later.signed_at],
      ['rejected', 'contract_withdrawn', signed.signed_at],
    );
  });

  it("D41: an unknown id, another partner's and a text that is no id get the same 404", async () => {
    const [own, other] = [await service.addPartner(), await service.addPartner()];
    const [one] = await register(other.apiKey, {});
    assert.equal((await get(`/PRO/applications/${one!.id}`, other.apiKey)).status, 200);
    const unknown = [
      '9007199254740991',
      '9007199254740993',
      '99999999999999999999',
      '1',
      '0',
      '-1',
      '1e3',
      'x',
    ];
    const answers = new Set<string>();
    const long = '1'.repeat(5_000);
    for (const id of [one!.id, ...unknown, `0${one!.id}`, '%31%00', '..%2f1', long]) {
      const { status, text } = await get(`/PRO/applications/${id}`, own.apiKey);
      assert.equal(status, 404, `${id}`);
      answers.add(text);
    }
    assert.deepEqual([...answers], ['{"error":"not found"}']);
    const spanish = await get('/PRO/applications/1', own.apiKey, { 'Accept-Language': 'es' });
    assert.deepEqual(spanish.body, { error: 'no encontrado' });
    // D2: the key comes first, however long the id is.
    assert.equal((await get(`/PRO/applications/${long}`, null)).status, 401);
  });

  it('D41: an erased applicant has no ID number', async () => {
    const { apiKey } = await service.addPartner();
    const [one] = await register(apiKey, {});
    await database.query('UPDATE batches SET envelope = NULL WHERE id = $1', [
      (await batchOf(database, one!.id)).id,
    ]);
    const { status, body } = await get<{ id_number: null }>(`/PRO/applications/${one!.id}`, apiKey);
    assert.deepEqual([status, body.id_number], [200, null]);
  });

  it('D41: damaged facts are a 500 and a line in the log, never a wrong answer', async () => {
    const { apiKey } = await service.addPartner();
    // All of them, and a currency that no application has, in the bytes 8 to 10.
    for (const damage of ["'\\x'", "overlay(facts PLACING 'zzz' FROM 9)"]) {
      const [one] = await register(apiKey, {});
      const { id: batch } = await batchOf(database, one!.id);
      await database.query(`UPDATE batches SET facts = ${damage} WHERE id = $1`, [batch]);
      assert.equal((await get(`/PRO/applications/${one!.id}`, apiKey)).status, 500, damage);
      assert.ok(service.log.some((line) => line.includes(`stored data of application ${one!.id}`)));
      const shown = JSON.parse((await run('application', 'show', `${one!.id}`, '--json')).out);
      assert.deepEqual(shown.reasons, []);
    }
  });
});

describe('the paths under /PRO', () => {
  const PATHS = [
    '/PRO/events',
    '/PRO/events/',
    '/PRO/events?limit=1',
    '/PRO/applications/12',
    '/PRO/applications/x/',
  ];

  it('D41, D1: another method than GET gets 405 with Allow, before the key is looked at', async () => {
    for (const path of PATHS) {
      for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']) {
        const response = await fetch(service.url + path, { method });
        assert.equal(response.status, 405, `${method} ${path}`);
        assert.equal(response.headers.get('allow'), 'GET');
        const text = await response.text();
        if (method !== 'HEAD') assert.equal(text, '{"error":"method not allowed (only GET)"}');
      }
      for (const method of ['FOO', 'get']) {
        const { answers } = await exchange(service.url, [head(method, path, {})]);
        assert.deepEqual([answers[0]?.status, answers[0]?.headers.allow], [405, 'GET'], `${method} ${path}`);
      }
    }
  });

  it('D41, D2, D20, D21: a key that is absent, for DEV or revoked gets 401', async () => {
    const dev = await service.addPartner({ environment: 'DEV' });
    const pro = await service.addPartner({ environment: 'PRO' });
    const revoked = await service.addPartner();
    await json('key', 'revoke', `${revoked.keyId}`);
    for (const path of PATHS) {
      for (const apiKey of [null, 'x', revoked.apiKey]) {
        const { status, text } = await get(path, apiKey);
        assert.deepEqual([status, text], [401, '{"error":"API key invalid or absent"}'], path);
      }
      const { status, text } = await get(path, dev.apiKey);
      assert.deepEqual(
        [status, text],
        [401, '{"error":"API key is not for this environment: it is for /DEV"}'],
        path,
      );
      assert.notEqual((await get(path, pro.apiKey)).status, 401, path);
    }
  });

  it('D41: no other path is there, under /DEV neither', async () => {
    const { apiKey } = await service.addPartner();
    const others = [
      '/DEV/events',
      '/DEV/applications/1',
      '/PRO/applications',
      '/PRO/applications/',
      '/PRO/Events',
    ];
    for (const path of [...others, '/PRO/events/1', '/PRO/applications/1/2', '/events', '/PRO//events']) {
      assert.equal((await get(path, apiKey)).status, 404, path);
      assert.equal((await fetch(service.url + path, { method: 'POST' })).status, 404, path);
    }
  });

  it('D24: a key that is pinned to a language is answered in it', async () => {
    const { apiKey } = await service.addPartner({ language: 'es' });
    const { body } = await get('/PRO/applications/1', apiKey, { 'Accept-Language': 'en' });
    assert.deepEqual(body, { error: 'no encontrado' });
  });
});
