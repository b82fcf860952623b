/** The documentation over HTTP, and the content of its page (D1). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { welcome } from '../../src/app/welcome.ts';
import { type NamedField, namedFields } from '../../src/domain/application/fields.ts';
import { SANDBOX_SCENARIOS } from '../../src/domain/application/sandbox.ts';
import { html, inline } from '../../src/ground/base/html.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { renderDocs } from '../../src/listeners/docs-page/whole-page.ts';
import { faultCatalogue } from '../../src/wire/contract/catalogue.ts';
import { API_CHANGES } from '../../src/wire/contract/changes.ts';
import { EVENT_WORDS, REASON_WORDS } from '../../src/wire/contract/event-words.ts';
import { DECISION_NAMES, NAMES, STATUS_NAMES } from '../../src/wire/contract/response.ts';
import { REFUSAL_TEXTS, REQUEST_PROBLEMS, requestText } from '../../src/wire/contract/texts.ts';
import { textOf } from '../support/docs-page.ts';
import { testService } from '../support/service.ts';

const service = await testService();
const below = await testService({ BASE_PATH: '/api/v1', CHANNEL_NAME: 'acme' });
const PATHS = [
  '/docs',
  '/openapi.json',
  '/openapi.es.json',
  '/docs/page.css',
  '/docs/page.js',
  '/docs/filter.js',
  '/docs/icon.svg',
];
const fields = namedFields('messaging');
const bands = { approved: 70, in_review: 30 };
const page = (language: 'en' | 'es', changes = {}) =>
  renderDocs({ language, basePath: '', fields, hasSimulator: false, bands, ...changes });

describe('the documentation over HTTP', () => {
  it('?lang= decides the language, else Accept-Language', async () => {
    for (const [query, accepted, expected] of [
      ['', 'es-CO,en;q=0.5', 'es'],
      ['', 'en', 'en'],
      ['', '', 'en'],
      ['?lang=es', 'en', 'es'],
      ['?lang=en', 'es', 'en'],
      ['?lang=fr', 'es', 'es'],
      ['?lang=es&lang=es', 'en', 'en'],
    ] as const) {
      const response = await fetch(`${service.url}/docs${query}`, {
        headers: { 'Accept-Language': accepted },
      });
      assert.equal(response.headers.get('content-language'), expected, query + accepted);
      assert.equal(response.headers.get('vary'), 'Accept-Language');
      assert.match(await response.text(), new RegExp(`<html lang="${expected}">`));
    }
  });

  it('D1: each file is served without a key, also with a trailing slash, under one address only', async () => {
    for (const { url } of [service, below]) {
      for (const path of PATHS) {
        const first = await fetch(url + path);
        assert.equal(first.status, 200, path);
        const body = await first.text();
        const tag = first.headers.get('etag') as string;
        const slashed = await fetch(`${url}${path}/`);
        assert.equal(await slashed.text(), body);
        const again = await fetch(url + path, { headers: { 'If-None-Match': tag } });
        assert.deepEqual([again.status, await again.text()], [304, '']);
        const changed = await fetch(url + path, { headers: { 'If-None-Match': '"other"' } });
        assert.equal(changed.status, 200);
        await changed.body?.cancel();
      }
    }
    const tags = await Promise.all(
      LANGUAGES.map(async (language) =>
        (await fetch(`${service.url}/docs?lang=${language}`)).headers.get('etag'),
      ),
    );
    assert.notEqual(tags[0], tags[1]);
  });

  it('D1: the documentation is served for GET only and below the base path only; anything else is not found', async () => {
    for (const path of PATHS) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await fetch(service.url + path, { method });
        assert.deepEqual([response.status, await response.json()], [404, { error: 'not found' }]);
      }
      assert.equal((await fetch(service.url + path, { method: 'HEAD' })).status, 404);
      assert.equal((await fetch(below.url.replace('/api/v1', '') + path)).status, 404);
    }
    for (const path of ['/docs/other', '/docs/../package.json', '/docs/page.ts', '/Docs', '/openapi']) {
      assert.equal((await fetch(service.url + path)).status, 404, path);
    }
  });

  it('the page has nothing inline, loads nothing from other hosts, and every link has a target', async () => {
    for (const { url } of [service, below]) {
      const response = await fetch(`${url}/docs`);
      const policy = response.headers.get('content-security-policy') as string;
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      const markup = await response.text();
      assert.doesNotMatch(markup, /<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|javascript:/);
      const links = [...markup.matchAll(/\b(?:href|src|data-url)="([^"]*)"/g)].map(([, to]) => to as string);
      assert.ok(links.length > 20);
      for (const link of new Set(links)) {
        if (link.startsWith('#')) {
          assert.equal(markup.split(`id="${link.slice(1)}"`).length, 2, link);
          continue;
        }
        const target = await fetch(new URL(link, `${url}/docs`));
        assert.equal(target.status, link.endsWith('/DEV') ? 401 : 200, link);
        await target.body?.cancel();
      }
    }
  });

  it('the welcome text has the address of the documentation', () => {
    const text = welcome(
      {
        place: 'DATA_DIR /x',
        url: below.url,
        opsUrl: below.opsUrl,
        simulatorUrl: null,
        consoleUrl: null,
        portalUrl: null,
      },
      { demo: null, link: null, readerTold: null },
    );
    assert.match(text, new RegExp(`Documentation ${below.url}/docs$`, 'm'));
  });

  it('D6: the documentation uses BASE_PATH and CHANNEL_NAME', async () => {
    for (const path of ['/openapi.json', '/openapi.es.json']) {
      const document = await (await fetch(below.url + path)).json();
      assert.deepEqual((document as { servers: unknown }).servers, [{ url: '/api/v1' }]);
    }
    const markup = await (await fetch(`${below.url}/docs`)).text();
    for (const text of ['acme_optin', 'optin_acme', '/api/v1/DEV']) assert.ok(markup.includes(text), text);
  });
});

describe('the documentation page', () => {
  it('the page has every name, text, phone and value of the code', () => {
    const markup = { en: page('en'), es: page('es') };
    for (const language of LANGUAGES) {
      const text = textOf(markup[language]);
      const known = [
        ...fields.flatMap(({ names }) => names),
        ...fields.map(({ about }) => about[language].replaceAll('`', '')),
        ...SANDBOX_SCENARIOS.flatMap(({ phone, description }) => [
          phone,
          description[language].replaceAll('`', ''),
        ]),
        ...LANGUAGES.flatMap((each) => [
          ...REQUEST_PROBLEMS.map((problem) => requestText(problem, each)),
          ...Object.values(REFUSAL_TEXTS).map((texts) => texts[each]),
          ...faultCatalogue(fields).map(({ texts }) => texts[each]),
          ...Object.values(NAMES[each]),
          ...Object.values(DECISION_NAMES[each]),
          ...Object.values(STATUS_NAMES[each]),
        ]),
        ...Object.entries({ ...EVENT_WORDS, ...REASON_WORDS }).flatMap(([code, words]) => [
          code,
          words[language],
        ]),
        ...API_CHANGES.map(({ version }) => version),
      ];
      for (const one of known) assert.ok(text.includes(one), `${language}: ${one}`);
    }
  });

  it('the page shows a new field of the table and the policy in force', () => {
    const added = {
      name: 'employer',
      aliases: ['empleador'],
      rule: { kind: 'text', max: 80 },
      about: { en: 'Who <pays>', es: 'Quien <paga>' },
      example: 'Acme SA',
      names: ['employer', 'empleador'],
    } as unknown as NamedField;
    const markup = page('es', {
      fields: [...fields, added],
      hasSimulator: false,
      bands: { approved: 64, in_review: 36 },
    });
    assert.match(markup, /Quien &lt;paga&gt;/);
    assert.match(textOf(markup), /empleador es requerido/);
    assert.match(textOf(markup), /"empleador": "Acme SA"/);
    assert.match(textOf(markup), /puntaje 36 a 63/);
  });

  it('values in HTML are escaped unless they are HTML', () => {
    const made = html`<p title="${'"'}">${"<&'>"}${[html`<b>${1}</b>`, '<']}</p>`;
    assert.equal(made.text, '<p title="&quot;">&lt;&amp;&#39;&gt;<b>1</b>&lt;</p>');
    assert.equal(inline('a `<b>` c').text, 'a <code>&lt;b&gt;</code> c');
  });

  it('text has the contrast of WCAG AA, light and dark', () => {
    const css = readFileSync(
      join(import.meta.dirname, '../../src/listeners/docs-page/page/page.css'),
      'utf8',
    );
    const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) =>
      Object.fromEntries(
        [...(block as string).matchAll(/--([\w-]+): (#\w{6});/g)].map(([, name, hex]) => [name, hex]),
      ),
    );
    assert.equal(schemes.length, 3);
    const [light] = schemes;
    const pairs = [
      ...['text', 'quiet', 'accent', 'problem', 'literal'].flatMap((ink) => [
        [ink, 'page'],
        [ink, 'sunken'],
      ]),
      ['text', 'bar'],
      ['quiet', 'bar'],
      ['accent', 'bar'],
      ['accent', 'chosen'],
      ['on-accent', 'accent'],
      ['on-note', 'note'],
    ] as [string, string][];
    for (const scheme of schemes.map((own) => ({ ...light, ...own }))) {
      for (const [ink, paper] of pairs) {
        const ratio = contrast(scheme[ink] as string, scheme[paper] as string);
        assert.ok(ratio >= 4.5, `${ink} on ${paper}: ${ratio.toFixed(2)}`);
      }
    }
  });
});

/** The contrast ratio of two colours `#rrggbb` (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
