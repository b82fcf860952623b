import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { FIELDS, type NamedField, namedFields } from '../../src/domain/application/fields.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { PUSH_WEBHOOKS } from '../../src/subjects/events/push/openapi.ts';
import { openApi } from '../../src/wire/contract/openapi.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';
import { checkerOf, documentedForm, pointer } from '../support/openapi.ts';

const fields = namedFields('messaging');
const documents = LANGUAGES.map((language) =>
  openApi({ basePath: '', fields, language, webhooks: PUSH_WEBHOOKS }),
);
const [document, spanish] = documents as [Schema, Schema];
const checker = checkerOf(document);
const spanishChecker = checkerOf(spanish);
const schemaPointer = (name: string) => pointer('components', 'schemas', name);

/** The value at a JSON pointer. */
function at(root: Schema, path: string): Schema {
  const parts = path.split('/').slice(1);
  return parts.reduce(
    (value: unknown, part) =>
      (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  ) as Schema;
}

const GOOD = Object.fromEntries(FIELDS.map(({ name, example }) => [name, example]));
const taken = (element: unknown) => readApplication(element, fields, 'CO', 'DEV').kind === 'valid';
const matches = (element: unknown) => checker.matches(schemaPointer('Application'), element);
const matchesSpanish = (element: unknown) => spanishChecker.matches(schemaPointer('Application'), element);

describe('the OpenAPI documents', () => {
  it('each document follows the official OpenAPI 3.1 schema, with any channel and base path', async () => {
    for (const [channel, basePath] of [
      ['messaging', ''],
      ['acme', '/api/v1'],
    ] as const) {
      for (const language of LANGUAGES) {
        const made = openApi({ basePath, fields: namedFields(channel), language, webhooks: PUSH_WEBHOOKS });
        const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(made)));
        assert.ok(valid, JSON.stringify(errors));
      }
    }
  });

  it('a linter of OpenAPI documents finds nothing: a contact, a described tag for each operation, no idle component', () => {
    for (const made of documents) {
      const { info, tags, paths, webhooks, components } = JSON.parse(JSON.stringify(made));
      assert.ok(info.contact.name);
      const described = new Set(
        tags.map(({ name, description }: Record<string, string>) => description && name),
      );
      const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((path) =>
        Object.values(
          path as Record<string, { tags?: string[]; description?: string; operationId?: string }>,
        ),
      );
      for (const { operationId, tags: names, description } of operations.filter((one) => one.operationId)) {
        assert.ok(description, operationId);
        assert.ok(names?.length === 1 && described.has(names[0] as string), operationId);
      }
      const text = JSON.stringify(made);
      for (const [kind, members] of Object.entries(components as Record<string, object>)) {
        if (kind === 'securitySchemes') continue;
        for (const name of Object.keys(members)) {
          assert.ok(text.includes(`"#/components/${kind}/${name}"`), `${kind}/${name}`);
        }
      }
    }
  });

  for (const [index, document] of documents.entries()) {
    checkDocument(LANGUAGES[index] as string, document);
  }

  it('a new field of the table appears in both documents', () => {
    const added = {
      name: 'employer',
      aliases: ['empleador'],
      rule: { kind: 'text', max: 80 },
      about: { en: 'Who pays', es: 'Quien paga' },
      example: 'Acme SA',
      names: ['employer', 'empleador'],
    } as unknown as NamedField;
    const application = schemaPointer('Application');
    for (const [language, name] of [
      ['en', 'employer'],
      ['es', 'empleador'],
    ] as const) {
      const made = openApi({ basePath: '', fields: [...fields, added], language, webhooks: PUSH_WEBHOOKS });
      const { matches: now } = checkerOf(made);
      const good = documentedForm(GOOD, fields, language) as object;
      assert.ok(!now(application, good), 'it is required');
      assert.ok(now(application, { ...good, [name]: ' Acme ' }));
      assert.match(JSON.stringify(at(made, schemaPointer('ErrorEntry'))), new RegExp(`${name} (is|es) requ`));
      assert.match(JSON.stringify(made.paths), new RegExp(`"${name}":"Acme SA"`));
    }
  });

  it('D5, D6: a document has one name for each field, and describes every name that is read, in order', () => {
    const acme = namedFields('acme');
    for (const language of LANGUAGES) {
      const made = openApi({ basePath: '', fields: acme, language, webhooks: PUSH_WEBHOOKS });
      const application = at(made, schemaPointer('Application'));
      const names = FIELDS.map(({ name, aliases }) => (language === 'en' ? name : aliases[0]));
      assert.deepEqual(Object.keys(application.properties as object), names);
      const lines = [...(application.description as string).matchAll(/^- (`\w+`(?:, `\w+`)*)$/gm)];
      assert.deepEqual(
        lines.map(([, list]) => list?.replaceAll('`', '').split(', ')),
        acme.map((field) => field.names),
      );
      const optIn = lines.find(([, list]) => list?.startsWith('`messaging_optin`'));
      assert.deepEqual(optIn?.[1]?.match(/\w+/g), [
        'messaging_optin',
        'optin_messaging',
        'acme_optin',
        'optin_acme',
      ]);
    }
  });
});

function checkDocument(language: string, document: Schema): void {
  const checker = checkerOf(document);

  it(`${language}: every reference has a target, and every component is used`, () => {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, to]) => to),
    );
    for (const reference of references) assert.ok(at(document, reference as string), reference);
    for (const kind of ['schemas', 'parameters', 'headers']) {
      for (const name of Object.keys(at(document, pointer('components', kind)))) {
        assert.ok(references.has(pointer('components', kind, name)), `${kind}/${name}`);
      }
    }
  });

  it(`${language}: every schema is valid in the 2020-12 dialect and matches its own examples`, () => {
    let count = 0;
    const walk = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (path.endsWith('/examples') && Array.isArray(value)) {
        const schema = path.slice(0, -'/examples'.length);
        for (const example of value) checker.check(schema, example, schema);
        count += value.length;
        return;
      }
      for (const [key, member] of Object.entries(value)) walk(member, path + pointer(key));
    };
    const schemas = at(document, pointer('components', 'schemas'));
    for (const name of Object.keys(schemas))
      assert.doesNotThrow(() => checker.matches(schemaPointer(name), null), name);
    walk(schemas, pointer('components', 'schemas'));
    assert.ok(count > 0);
  });

  it(`${language}: the examples of requests and answers match the schemas beside them`, () => {
    let count = 0;
    const walk = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if ('schema' in value && 'examples' in value) {
        for (const [name, example] of Object.entries(value.examples as Record<string, { value: unknown }>)) {
          checker.check(`${path}/schema`, example.value, `${path} ${name}`);
          count += 1;
        }
        return;
      }
      for (const [key, member] of Object.entries(value)) walk(member, path + pointer(key));
    };
    walk(document.paths, '/paths');
    walk(document.webhooks, '/webhooks');
    assert.ok(count > 50, `${count}`);
  });
}

describe('the schema of an application', () => {
  const RUNS = 10_000;
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.constantFrom('', ' ', '\t', 'a\u0000b', ' Ana ', '\u00a0x', 'x\u0085', 'x\u2028', '\ufeffx', '😀'),
    fc
      .tuple(
        fc.constantFrom('x', '😀'),
        fc.constantFrom(31, 32, 33, 63, 64, 65, 119, 120, 121, 199, 200, 201),
      )
      .map(([unit, length]) => ` ${unit.repeat(length)}\n`),
  );
  /** Nobody has the code 999, so that every length stands; a bare number stands where it is valid. */
  const numberDigits = fc
    .array(fc.constantFrom('5', '7', '3'), { minLength: 2, maxLength: 14, size: 'max' })
    .map((rest) => {
      const international = ['9', '9', '9', ...rest];
      const isFormOnly = international.length < 7 || international.length > 15;
      return { international, bare: isFormOnly ? international : [...'573001234567'] };
    });
  const phone = fc
    .oneof(
      text,
      fc
        .tuple(
          fc.constantFrom('', '', '+', '00', '0 0', ' (+', '-', '(', '++', '+0', '\t'),
          numberDigits,
          fc.constantFrom('', '', ' ', '-', '.', ')(', '\u00a0', '+', '\t'),
          fc.constantFrom('', '', ' ', ')', '\t', 'x'),
        )
        .map(([before, digits, between, after]) => {
          const isBare = !/\+|0 ?0/.test(before);
          return before + (isBare ? digits.bare : digits.international).join(between) + after;
        }),
    )
    // A number that only the numbering plans refuse, as the description says.
    .filter((sent) => !/^0(?!0)/.test(sent.replaceAll(/[^0-9+]/g, '')));
  const amount = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(
      '0',
      '0.0',
      '00.010',
      '1',
      ' 1.5e6 ',
      '1e',
      '.5',
      '1.',
      '-1',
      '+1',
      '1,5',
      '0x1',
      '1e-3',
      '0e9',
    ),
    fc.constantFrom('Infinity', '1_000', '１'),
  );
  const choice = fc.oneof(
    fc.constantFrom('1', ' 2 ', '03', 'LT6', '6a12', '6A12 ', '1a2', 'gt2', 'Yes', 'NO', 'si', 'Sí', 'ſi'),
    fc.integer({ min: 0, max: 4 }),
    fc.constantFrom(1.5, -0, 3),
  );
  const odd = fc.constantFrom<unknown>(null, undefined, true, false, 'true', 0, [], {}, '');
  const instant = fc.oneof(
    text,
    fc
      .tuple(
        fc.constantFrom('2026-11-20', '2026-1-2', '2026-13-01', '2026-11-00', '20261120', ' 2024-02-29'),
        fc.constantFrom(
          '',
          '',
          'T14:05',
          't14:05:09',
          'T24:00',
          ' 14:05',
          'T14:05:09.5',
          'T14:05:09,123456789',
        ),
        fc.constantFrom('', 'Z', 'z', '-05:00', '+0530', '+5', '-24:00', ' '),
      )
      .map((parts) => parts.join('')),
  );
  const VALUES = {
    ...{ text, label: text, phone, currency: text, amount, choice, consent: odd },
    ...{ note: text, instant },
  };

  /** A valid application in which one or two fields have other values, under one or several of their names. */
  const element = fc
    .array(
      fc.constantFrom(...fields).chain(({ name, names, rule }) => {
        const value = fc.oneof(
          { weight: 4, arbitrary: VALUES[rule.kind] },
          { weight: 2, arbitrary: fc.constantFrom<unknown>(GOOD[name], null) },
          odd,
        );
        const others = Object.fromEntries(names.map((one) => [one, value]));
        return fc.record(others, { requiredKeys: [] }).map((under) => ({ [name]: undefined, ...under }));
      }),
      { minLength: 1, maxLength: 2 },
    )
    .map((changes) => JSON.parse(JSON.stringify(Object.assign({ ...GOOD }, ...changes))) as unknown);

  it('D5-D12: the service accepts exactly the applications whose documented form matches, in either language', () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: element }, fc.jsonValue()), (sent) => {
        if (!taken(sent)) refused += 1;
        assert.equal(matches(documentedForm(sent, fields)), taken(sent));
        assert.equal(matchesSpanish(documentedForm(sent, fields, 'es')), taken(sent));
      }),
      { numRuns: RUNS },
    );
    assert.ok(refused > RUNS / 10 && refused < RUNS * 0.9, `${refused} of ${RUNS}`);
  });

  it('D7, D8, D11, D38: values that only the service can refuse match the schema, and its description names them', () => {
    const { description } = at(document, schemaPointer('Application'));
    const GAPS: [words: RegExp, changes: object][] = [
      [/surrogate/, { city: 'x\ud800' }],
      [/lower-casing/, { platform: 'İ'.repeat(40) }],
      [/numbers of that length/, { phone: '+57 300 123' }],
      [/valid international number/, { phone: '0123456' }],
      [/a day that its month does not have/, { consent_at: '2026-02-30' }],
      [/not of the country of\s+`currency` too/, { phone: '3211234567', currency: 'MXN' }],
    ];
    for (const [words, changes] of GAPS) {
      assert.match(description as string, words);
      const sent = { ...GOOD, ...changes };
      assert.deepEqual([matches(sent), taken(sent)], [true, false], JSON.stringify(changes));
    }
    assert.match(description as string, /not a finite number > 0/);
    for (const income of ['1e999', '1e-999']) assert.ok(!taken({ ...GOOD, income }), income);
    assert.match(description as string, /\+990/);
    const reserved = { ...GOOD, phone: '+9900200' };
    assert.ok(matches(reserved) && taken(reserved));
    assert.equal(readApplication(reserved, fields, 'CO', 'PRO').kind, 'invalid');
  });

  it('D5, D12: the service accepts whatever matches as it is and has no other name of a field', () => {
    const others = new Set(fields.flatMap(({ names }) => names.slice(1)));
    const english = element.map((sent) =>
      Object.fromEntries(Object.entries(sent as object).filter(([name]) => !others.has(name))),
    );
    let matching = 0;
    fc.assert(
      fc.property(english, (sent) => {
        if (!matches(sent)) return;
        matching += 1;
        assert.ok(taken(sent), JSON.stringify(sent));
      }),
      { numRuns: RUNS },
    );
    assert.ok(matching > RUNS / 10, `${matching} of ${RUNS}`);
  });
});
