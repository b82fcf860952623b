/** What admins do with the brand of a key at the console (docs/brand.md; docs/operators.md, "The brand of a key"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ReadTemplates } from '../../src/domain/message/channel-templates.ts';
import { effectiveBrand } from '../../src/domain/partner/brand.ts';
import { pausedAmong } from '../../src/subjects/messages/subject.ts';
import { brandRoutes } from '../../src/subjects/partners/routes/brand.ts';
import { commandLine } from '../cli/harness.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';

let told: ReturnType<ReadTemplates> = Promise.resolve({ kind: 'not_asked' });
const store = await testDatabase();
const ROUTES = brandRoutes({ ...store, database: store.runtime }, { pausedAmong, readTemplates: () => told });
const site = await startTestConsole(store, ROUTES);
const admin = await (await site.enrolled('ana', 'admin')).signIn();
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const other = await json('partner', 'add', '--name', 'Otro', '--country', 'CO');
const key = await json('key', 'issue', '--partner', `${partner.id}`);
const PATH = `/api/partners/${partner.id}/keys/${key.id}/brand`;
const look = async (brand: unknown) => (await admin.ask('POST', `${PATH}/look`, { brand })).body;
const BRAND = {
  partner: 'Acme Repartos',
  buttons: { offer: { es: ['Sí', 'Más'] } },
  templates: { offer: { name: 'acme_offer', languages: { es: 'es_CO' } }, approved: 'acme_approved' },
  conversation: { limits: { files: 3 } },
};

it('D48: each route is for admins, and knows the keys of its partner alone', async () => {
  const reviewer = await (await site.enrolled('rosa', 'reviewer')).signIn();
  for (const { method, path } of ROUTES) {
    const at = (of: number, id: number) => `/api${path.replace('{id}', `${of}`).replace('{key}', `${id}`)}`;
    const body = method === 'GET' ? undefined : { brand: {}, ...(method === 'PUT' && { was: {} }) };
    assert.equal((await reviewer.ask(method, at(partner.id, key.id), body)).status, 403, path);
    for (const [of, id] of [
      [other.id, key.id],
      [partner.id, 999],
      [999, key.id],
    ])
      assert.equal((await admin.ask(method, at(of, id), body)).status, 404, path);
  }
});

it('a brand is read, changed as the command changes it, and not over the change of somebody else', async () => {
  const { body: before } = await admin.ask('GET', PATH);
  assert.deepEqual([before.brand, before.defaults], [{}, effectiveBrand({}, 'Acme')]);
  const { status, body: set } = await admin.ask('PUT', PATH, { brand: BRAND, was: before.brand });
  assert.deepEqual([status, set.brand], [200, BRAND]);
  assert.equal((await json('key', 'brand', 'show', `${key.id}`)).partner, 'Acme Repartos');
  const late = await admin.ask('PUT', PATH, { brand: {}, was: {} });
  assert.deepEqual([late.status, late.body.code], [409, 'brand_changed']);
  const wrong = await admin.ask('PUT', PATH, { brand: { partner: '' }, was: BRAND });
  assert.deepEqual([wrong.status, /^body: brand: partner: /.test(wrong.body.error)], [400, true]);
  assert.deepEqual((await admin.ask('GET', PATH)).body.brand, BRAND);
  const { rows } = await store.database.query(
    "SELECT act, target FROM operator_events WHERE act LIKE 'key brand%'",
  );
  assert.deepEqual(rows, [{ act: 'key brand set', target: `key ${key.id}` }]);
});

it('a look stores nothing, and shows the messages as key brand show does', async () => {
  const { faults, shown } = await look({ ...BRAND, partner: 'Nadie' });
  assert.deepEqual(faults, []);
  const offer = shown.previews.find((one: { kind: string; language: string }) => one.kind === 'offer');
  assert.match(offer.text, /^Hola, Luz Marina: Nadie y Ventanilla .*\$\s8\.000\.000/);
  assert.deepEqual([offer.language, offer.buttons, offer.parameters[1]], ['es', ['Sí', 'Más'], 'Nadie']);
  assert.equal(shown.previews.length, 10);
  assert.deepEqual((await admin.ask('GET', PATH)).body.brand, BRAND);
});

it('each fault has its place and its kind', async () => {
  for (const [brand, path, code] of [
    [{ partner: 'x'.repeat(61) }, 'partner', 'line'],
    [{ texts: { offer: { es: 'a {nope} b' } } }, 'texts.offer.es', 'placeholder'],
    [{ texts: { rejected: { pt: 'Olá' } } }, 'texts.rejected.pt', 'differs'],
    [{ buttons: { approved: { es: ['Sí', 'Sí'] } } }, 'buttons.approved.es', 'same_title'],
    [{ buttons: { approved: { es: ['Sí', 'x'.repeat(21)] } } }, 'buttons.approved.es[1]', 'title'],
    [{ templates: { offer: { name: 'A' } } }, 'templates.offer.name', 'template_name'],
    [{ conversation: { limits: { files: 0 } } }, 'conversation.limits.files', 'conversation'],
    [[], '', 'object'],
  ] as const) {
    const { status, body } = await admin.ask('POST', `${PATH}/look`, { brand });
    // The form of the request has an object already.
    if (Array.isArray(brand)) assert.equal(status, 400);
    else {
      const [first] = body.faults;
      assert.deepEqual([first?.path, first?.code, body.shown], [path, code, null]);
    }
  }
});

it('a template that the channel refused is told with its code, in every language of it', async () => {
  await store.database.query("INSERT INTO paused_templates (name, reason) VALUES ('acme_offer', '132001')");
  const { shown } = await look(BRAND);
  assert.deepEqual(
    shown.templates
      .filter(({ kind }: { kind: string }) => kind === 'offer' || kind === 'approved')
      .map(({ language, name, code, paused }: Template) => [language, name, code, paused?.reason ?? null]),
    [
      ['es', 'acme_approved', 'es', null],
      ['pt', 'acme_approved', 'pt_BR', null],
      ['es', 'acme_offer', 'es_CO', '132001'],
      ['pt', 'acme_offer', 'pt_BR', '132001'],
    ],
  );
});

it('the channel says of each template what it is, by name and language', async () => {
  assert.equal((await look({})).shown.channel, 'not_asked');
  told = Promise.resolve({
    kind: 'read',
    templates: [
      { name: 'acme_offer', language: 'es_CO', status: 'approved' },
      { name: 'acme_offer', language: 'es', status: 'rejected' },
      { name: 'ventanilla_approved', language: 'pt_BR', status: 'pending' },
    ],
  });
  const { shown } = await look({ templates: { offer: { name: 'acme_offer', languages: { es: 'es_CO' } } } });
  assert.equal(shown.channel, 'read');
  assert.deepEqual(
    shown.templates.slice(0, 4).map(({ kind, language, status }: Template) => [kind, language, status]),
    [
      ['approved', 'es', 'missing'],
      ['approved', 'pt', 'pending'],
      ['offer', 'es', 'approved'],
      ['offer', 'pt', 'missing'],
    ],
  );
  told = Promise.resolve({ kind: 'failed', reason: '190' });
  const failed = (await look({})).shown;
  assert.deepEqual([failed.channel, failed.templates[0].status], ['failed', null]);
});

interface Template {
  readonly kind: string;
  readonly status: string | null;
  readonly language: string;
  readonly name: string;
  readonly code: string;
  readonly paused: { readonly reason: string } | null;
}

it('hostile values in each part of a brand are faults, or come back as they are', async () => {
  const VALUES: readonly unknown[] = [
    ...[
      '\u0000',
      '\ud800',
      'a\u202eb',
      ' ',
      'x'.repeat(20_000),
      '{',
      '{__proto__} x',
      '<img src=x onerror=alert(1)>',
    ],
    ...[null, true, 0, -1, 1e300, [], {}, [[]], ['\u202e'], { a: {} }, { constructor: 1 }],
  ];
  const PARTS: ((value: unknown) => object)[] = [
    (value) => ({ partner: value }),
    (value) => ({ contract: value }),
    (value) => ({ rejected_reasons: value }),
    (value) => ({ conversation: value }),
    (value) => ({ conversation: { texts: { es: { consent: value } } } }),
    (value) => ({ texts: value }),
    (value) => ({ texts: { offer: { es: value } } }),
    (value) => ({ buttons: { offer: { es: value } } }),
    (value) => ({ buttons: { offer: { es: [value] } } }),
    (value) => ({ templates: { offer: value } }),
    (value) => ({ templates: { offer: { name: value, languages: { es: value }, parameters: value } } }),
  ];
  for (const part of PARTS) {
    for (const value of VALUES) {
      const brand = part(value);
      const { status, body } = await admin.ask('POST', `${PATH}/look`, { brand });
      // What JSON.parse itself would make of a name such as __proto__ is refused before.
      assert.ok(status === 200 || status === 400, `${status} ${JSON.stringify(brand).slice(0, 80)}`);
      if (status === 200) assert.equal(body.shown === null, body.faults.length > 0);
    }
  }
  assert.deepEqual(site.failures, []);
});
