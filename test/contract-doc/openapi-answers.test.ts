/** docs/contract.md and the OpenAPI document agree on answers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LANGUAGES, type Language } from '../../src/ground/base/language.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';
import { codesIn } from '../support/markdown.ts';
import { document, documents, type Members, type Operation } from './openapi.ts';
import { fields, table } from './page.ts';

/** The JSON type of a member in the words of the page. */
function typeIn(schema: Schema): string {
  if ('$ref' in schema) {
    const { schemas } = document.components;
    return typeIn(schemas[(schema.$ref as string).split('/').at(-1) as string] ?? {});
  }
  if ('const' in schema) return schema.const === true ? 'true' : typeof schema.const;
  return [schema.type ?? 'string'].flat().join(' or ');
}

/** The members with their types. Members of `partner` are named `partner.x`. */
function membersOf(name: string, language: Language): [string, string][] {
  const { schemas } = documents[language].components;
  return Object.entries(schemas[name]?.properties ?? {}).flatMap(([member, schema]) =>
    member === 'partner'
      ? Object.entries(schema.properties as Members).map(([inner, its]): [string, string] => [
          `partner.${inner}`,
          typeIn(its),
        ])
      : [[member, typeIn(schema)]],
  );
}

/** Whether the page's words in the column `on` mean this operation. */
function isOn(on: string, method: string, path: string): boolean {
  const isSearch = path.endsWith('/search');
  const isRead = path.startsWith('/PRO/') && !isSearch;
  switch (on) {
    case 'any request':
      return true;
    case 'the paths of POST':
      return !isRead;
    case '`/PRO` and below it':
      return path.startsWith('/PRO');
    case '`/DEV`':
      return path.startsWith('/DEV');
    case 'the other paths of GET':
      return isRead;
    case 'the events':
      return path === '/PRO/events';
    case 'one application, and other paths':
      return path === '/PRO/applications/{id}';
    case 'a batch':
      return method === 'post' && !isSearch;
    case 'a search':
      return isSearch;
    default:
      return method === 'post' && (on === 'POST' || on === `\`POST ${path}\``);
  }
}

describe('the contract’s page and the OpenAPI document: answers', () => {
  for (const [mark, name] of [
    ['### Result entry\n', 'Result'],
    ['### Quota status\n', 'Quota'],
    ['### Submit a batch\n', 'BatchAnswer'],
  ] as const) {
    for (const environment of ['Pro', 'Dev'] as const) {
      it(`contract "Resources", D22, D25: both have the same members of ${name}, ${environment}`, () => {
        const here = table(mark).filter(([, , , on]) => environment === 'Dev' || !on?.startsWith('`/DEV`'));
        for (const [column, language] of LANGUAGES.entries()) {
          const expected = here.map((row) => {
            const [type, other] = (row[2] as string).split('; on `/DEV` ');
            return [codesIn(row[column] as string)[0], environment === 'Dev' ? (other ?? type) : type];
          });
          assert.deepEqual(membersOf(name + environment, language), expected);
        }
      });
    }
  }

  it('contract "Error entry", D13, D25: both have the same members of every kind of error entry', () => {
    for (const [column, language] of LANGUAGES.entries()) {
      const kinds = documents[language].components.schemas.ErrorEntry?.oneOf as {
        readonly properties: Members;
      }[];
      const rows = table('### Error entry\n');
      const namesOf = (where: readonly string[]) =>
        rows
          .filter((row) => where.includes(row[3] as string))
          .map((row) => codesIn(row[column] as string)[0]!);
      const names = rows.map((row) => codesIn(row[column] as string)[0]!);
      const coded = ['always', 'with codes'];
      assert.deepEqual(
        new Set(kinds.map(({ properties }) => Object.keys(properties).join())),
        new Set([
          namesOf(coded).join(),
          namesOf([...coded, 'with codes, of wrong fields']).join(),
          namesOf([...coded, 'over the quota']).join(),
        ]),
      );
      for (const [index, name] of names.entries()) {
        const types = kinds.flatMap(({ properties }) =>
          name in properties ? typeIn(properties[name] as Schema).split(' or ') : [],
        );
        assert.deepEqual([...new Set(types)].sort(), (rows[index]?.[2] as string).split(' or ').sort(), name);
      }
    }
  });

  it('D32: both have the same members of would_notify', () => {
    assert.deepEqual(
      membersOf('WouldNotify', 'en'),
      table('send a message ([D31]').map(([member, type]) => [codesIn(member as string)[0], type]),
    );
  });

  it('contract "HTTP codes": both have the same codes and texts for every path and method', () => {
    const rows = table('What the `error` of a failed request says:');
    const textsOf = (response: Operation['responses'][string]) =>
      new Set(response.content['application/json']?.schema.properties.error?.enum as string[]);
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries({ get: operations.get, post: operations.post })) {
        if (operation === undefined) continue;
        const here = rows.filter(([, , , on]) => isOn(on as string, method, path));
        const { responses } = operation;
        const statuses = new Set(['200', ...here.map(([status]) => status)]);
        assert.deepEqual(new Set(Object.keys(responses)), statuses, `${method} ${path}`);
        for (const [status, response] of Object.entries(responses)) {
          if (status === '200') continue;
          const texts = here
            .filter(([code]) => code === status)
            .flatMap(([, en, es]) => codesIn(`${en}${es}`));
          assert.deepEqual(textsOf(response), new Set(texts), `${method} ${path} ${status}`);
        }
      }
    }
    const elsewhere = rows
      .filter(([, , , on]) => on?.endsWith('other paths'))
      .flatMap(([, en, es]) => codesIn(`${en}${es}`));
    assert.deepEqual(textsOf(document.components.responses.NotFound), new Set(elsewhere));
  });

  it('contract "Per-application errors", "Versioning": both have the same texts, decisions and statuses', () => {
    for (const [column, language] of [
      [1, 'en'],
      [2, 'es'],
    ] as const) {
      const { schemas } = documents[language].components;
      const first = (name: string) =>
        language === 'en' ? name : (fields.find((field) => field.name === name)?.aliases[0] as string);
      const rows = table('\n## Per-application errors\n');
      const texts = rows.flatMap((row) =>
        codesIn(row[0] as string).map((name) =>
          (codesIn(row[column] as string)[0] as string).replace('<field>', first(name)),
        ),
      );
      const [faults, ...others] = schemas.ErrorEntry?.oneOf as { readonly properties: Members }[];
      assert.deepEqual(new Set(faults?.properties.error?.examples as string[]), new Set(texts));
      const fixed = rows
        .filter(([about]) => !about?.startsWith('`'))
        .map((row) => codesIn(row[column] as string)[0]);
      assert.deepEqual(new Set(others.map(({ properties }) => properties.error?.const)), new Set(fixed));
      const named = table('\n## Versioning\n');
      const result = schemas.ResultPro?.properties as Members;
      for (const what of ['decision', 'status']) {
        const values = named
          .filter(([kind]) => kind === what)
          .map((row) => codesIn(row[column] as string)[0]);
        const member = what === 'status' && language === 'es' ? 'estado' : what;
        assert.deepEqual(result[member]?.enum, values, what);
      }
    }
  });

  it('D41: both have the same members of an application, in both languages, and of a page of events', () => {
    for (const [column, language] of LANGUAGES.entries()) {
      const expected = table('### Application state\n').map((row) => [
        codesIn(row[column] as string)[0],
        row[2],
      ]);
      assert.deepEqual(membersOf('ApplicationState', language), expected);
      // A policy of the operator's may have codes of its own, so the list is not closed.
      const codes =
        documents[language].components.schemas.ApplicationState?.properties?.reason_code?.examples;
      const limits = table('The codes of limits:\n').flatMap(([limit]) => codesIn(limit as string));
      const reviews = table('by the action of the review:\n').flatMap(([, list]) => codesIn(list as string));
      assert.deepEqual(new Set(codes as unknown[]), new Set([...limits, ...reviews]));
      const page = table('### Page of events\n').map(([name, type]) => [codesIn(name as string)[0], type]);
      assert.deepEqual(membersOf('EventPage', language), page);
    }
  });

  it('D56: both have the same members of a search and of its answer, in both languages', () => {
    for (const [column, language] of LANGUAGES.entries()) {
      const { Search } = documents[language].components.schemas;
      const bodies = Search?.oneOf as { readonly properties: Members; readonly required: string[] }[];
      const [idNumber, day, ...page] = table(
        'with a key for PRO. The body is an object with exactly one',
      ).map((row) => [codesIn(row[column] as string)[0] as string, row[2]]);
      assert.deepEqual(
        bodies.map(({ properties, required }) => [
          required,
          Object.entries(properties).map(([name, schema]) => [name, typeIn(schema)]),
        ]),
        [idNumber, day].map((asked) => [[asked![0]], [asked, ...page]]),
      );
      for (const environment of ['Pro', 'Dev']) {
        const elsewhere = environment === 'Pro' ? '`/DEV`' : '`/PRO`';
        const expected = table('The answer is a page of the partner')
          .filter(([, , , on]) => !on?.startsWith(elsewhere))
          .map((row) => [codesIn(row[column] as string)[0], row[2]]);
        assert.deepEqual(membersOf(`Found${environment}`, language), expected);
      }
    }
  });

  it('D41: both have the same types of events with the same members, and the same codes of reasons', () => {
    const { schemas } = document.components;
    const rows = table('### Partner event\n');
    const types = table('The types of events:\n').map(([type]) => codesIn(type as string)[0]);
    const events = (schemas.PartnerEvent?.oneOf as { $ref: string }[]).map(({ $ref }) => {
      const { properties } = schemas[$ref.split('/').at(-1) as string]!;
      const data = (properties.data as { properties: Members }).properties;
      const members = Object.entries(data).map(([name, schema]) => [`data.${name}`, typeIn(schema)]);
      const outer = ['id', 'type', 'timestamp'].map((name) => [name, 'string']);
      assert.deepEqual(Object.keys(properties), ['id', 'type', 'timestamp', 'data']);
      return { type: properties.type?.const as string, members: [...outer, ...members], data };
    });
    assert.deepEqual(
      events.map(({ type }) => type),
      types,
    );
    for (const { type, members } of events) {
      const here = rows.filter(
        ([, , on]) => on === 'every event' || codesIn(on as string).includes(type as string),
      );
      assert.deepEqual(
        members,
        here.map(([name, kind]) => [codesIn(name as string)[0], kind]),
      );
    }
    const codes = table('by the action of the review:\n').flatMap(([, list]) => codesIn(list as string));
    assert.deepEqual(new Set(events[0]?.data.reason_code?.enum as string[]), new Set(codes));
  });

  it('D24: both say that Accept-Language decides for GET and for failures before the root name is read', () => {
    const { description } = document.components.parameters.AcceptLanguage;
    assert.match(description, /GET and to a request that fails before its root name is read/);
  });

  it('contract "Headers": both have the same headers with the same fixed values', () => {
    const rows = table('### Headers\n').map(([name, way, meaning]) => ({
      name: codesIn(name as string)[0] as string,
      way,
      values: codesIn(meaning as string),
    }));
    // OpenAPI states the type of a body elsewhere.
    const of = (way: string) =>
      rows.filter((row) => row.way === way && row.name !== 'Content-Type').map(({ name }) => name);
    const { parameters, securitySchemes, headers } = document.components;
    const inHeaders = Object.values(parameters).filter((parameter) => parameter.in === 'header');
    const sent = [...inHeaders, ...Object.values(securitySchemes)].map(({ name }) => name);
    assert.deepEqual(new Set(of('request')), new Set(sent));
    const answered = Object.values(document.paths)
      .flatMap(({ get, post }) => [get, post].filter((one) => one !== undefined))
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap((answer) => Object.entries(answer.headers));
    assert.deepEqual(new Set(of('answer')), new Set(answered.map(([name]) => name)));
    for (const [name, { $ref }] of answered) {
      const { schema } = headers[$ref.split('/').at(-1) as string] as { schema: Schema };
      const row = rows.find((one) => one.name === name && one.way === 'answer');
      if ('const' in schema) assert.ok(row?.values.includes(schema.const as string), name);
    }
  });
});
