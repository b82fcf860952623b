/** docs/contract.md and the partners' page at `/docs` agree, in both languages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { renderDocs } from '../../src/listeners/docs-page/whole-page.ts';
import { tablesOf, textOf } from '../support/docs-page.ts';
import { codesIn } from '../support/markdown.ts';
import { fields, table } from './page.ts';

/** The captions of the page's tables. */
const CAPTIONS = {
  fields: { en: 'Fields of an application', es: 'Campos de una solicitud' },
  phones: { en: 'Phones of the sandbox', es: 'Teléfonos de prueba' },
  points: { en: 'Most points of each criterion', es: 'Máximo de puntos por criterio' },
  decides: { en: 'What the score decides', es: 'Qué decide el puntaje' },
  codes: { en: 'What to do with each code', es: 'Qué hacer con cada código' },
  requests: { en: 'What a failed request says', es: 'Qué dice una petición fallida' },
  applications: {
    en: 'What the error of an application says',
    es: 'Qué dice el error de una solicitud',
  },
  sent: { en: 'Names that you send', es: 'Nombres que envías' },
  types: { en: 'Types of events', es: 'Tipos de eventos' },
  reasons: { en: 'Reason codes', es: 'Códigos de motivo' },
  limits: { en: 'Codes of limits', es: 'Códigos de límites' },
  read: { en: 'Names and values that come back', es: 'Nombres y valores que vuelven' },
} as const;

const codeOf = (cell: string | undefined) => codesIn(cell ?? '')[0] as string;
const setOf = (rows: readonly (readonly unknown[])[]) => new Set(rows.map((row) => row.join(' | ')));
const [ENGLISH, SPANISH] = [1, 2];

for (const language of ['en', 'es'] as const) {
  const index = language === 'en' ? 0 : 1;
  const markup = renderDocs({
    language,
    basePath: '',
    fields,
    hasSimulator: false,
    bands: DEFAULT_POLICY.decision,
  });
  const tables = tablesOf(markup);
  const shown = (name: keyof typeof CAPTIONS) => {
    const rows = tables.get(CAPTIONS[name][language]);
    assert.ok(rows, CAPTIONS[name][language]);
    return rows;
  };

  describe(`the contract’s page and /docs, ${language}`, () => {
    it('contract "Application input": both have the same fields with type, limit and values', () => {
      const rows = table('### Application input\n');
      const expected = rows.map(([name, aliases, type, , absent]) => {
        const field = language === 'en' ? codeOf(name) : codeOf(aliases);
        const required = { en: ' · required', es: ' · requerido' }[language];
        return [field + type + (absent === 'error' ? required : '')];
      });
      assert.deepEqual(setOf(shown('fields').map(([name]) => [name])), setOf(expected));
      for (const [place, [name, , type, takes]] of rows.entries()) {
        const [, text = ''] = shown('fields')[place] ?? [];
        const numbers = type === 'string' ? (takes?.match(/\b\d+\b(?= characters| digits| to)/g) ?? []) : [];
        // A phone's limit is its number of digits alone.
        for (const number of name === '`phone`' ? numbers.slice(0, 2) : numbers) {
          assert.ok(text.includes(number), `${name} ${number}`);
        }
        for (const value of codesIn(takes ?? '')) assert.ok(text.includes(value), `${name} ${value}`);
      }
      const meanings = shown('fields')
        .map(([, text]) => text)
        .join(' ');
      for (const row of table('How long the debt has been overdue:')) {
        assert.ok(meanings.includes(`${codeOf(row[0])} (${row[1 + index]})`), row[0]);
      }
    });

    it('contract "Versioning": both have the same names of requests and answers, in both languages', () => {
      const aliases = table('### Application input\n').map(([name, others]) => [
        codeOf(name),
        codesIn(others as string).join(', '),
      ]);
      assert.deepEqual(setOf(shown('sent')), setOf([['applications', 'aplicaciones'], ...aliases]));
      const members = ['Submit a batch', 'Result entry', 'Error entry', 'Quota status']
        .flatMap((title) => table(`### ${title}\n`))
        .map((row) => row.slice(0, 2).map((name) => codeOf(name).replace('partner.', '')));
      const values = table('\n## Versioning\n').map((row) => row.slice(1).map(codeOf));
      const [quota] = table('\n## Per-application errors\n').filter(([about]) => about === 'over the quota');
      const pairs = [...members, ...values, (quota as string[]).slice(1).map(codeOf)];
      assert.deepEqual(setOf(shown('read')), setOf(pairs.filter(([en, es]) => en !== es)));
    });

    it('contract "HTTP codes", "Per-application errors": both have the same codes and texts', () => {
      const requests = table('What the `error` of a failed request says:');
      assert.deepEqual(
        setOf(shown('requests')),
        setOf(requests.map(([status, en, es]) => [status, codeOf(en), codeOf(es)])),
      );
      const codes = table('\n## HTTP codes\n').map(([status]) => [status]);
      assert.deepEqual(setOf(shown('codes').map(([status]) => [status])), setOf(codes));
      const texts = table('\n## Per-application errors\n').flatMap((row) => {
        const [en, es] = [codeOf(row[ENGLISH]), codeOf(row[SPANISH])];
        return (row[0]?.startsWith('`') ? codesIn(row[0]) : ['']).map((name) => {
          const alias = fields.find((field) => field.name === name)?.aliases[0] ?? '';
          return [en.replace('<field>', name), es.replace('<field>', alias)];
        });
      });
      assert.deepEqual(setOf(shown('applications').map((row) => row.slice(1))), setOf(texts));
    });

    it('contract "Scoring", "Outcome at creation": both have the same points and bands', () => {
      const most = table('### Scoring\n').slice(0, -1);
      assert.deepEqual(
        shown('points').map(([, points]) => points),
        most.map(([, , points]) => points),
      );
      const named = (what: string, value: string | undefined) => {
        const rows = table('\n## Versioning\n').filter(([kind]) => kind === what);
        return codeOf(rows.find(([, en]) => en === value)?.[1 + index]);
      };
      const outcomes = table('### Outcome at creation\n').map(([when, decision, status]) => ({
        numbers: when?.match(/\d+/g) ?? [],
        cells: [named('decision', decision), named('status', status)],
      }));
      assert.deepEqual(
        shown('decides').map((row) => row.slice(1)),
        outcomes.map(({ cells }) => cells),
      );
      const least = shown('decides').map(([when]) => when?.match(/\d+/g) ?? []);
      const [approved, review] = outcomes.map(({ numbers }) => numbers);
      assert.deepEqual(least, [[approved?.[0]], review, [review?.[0]], []]);
    });

    it('D25, D38: both have the same phones of the sandbox, with names in the page’s language', () => {
      const rows = table('**D38. ');
      assert.deepEqual(
        shown('phones').map(([phone]) => phone),
        rows.map(([phone]) => codeOf(phone)),
      );
      for (const [place, [, outcome, message]] of rows.entries()) {
        const text = shown('phones')[place]?.[1] ?? '';
        for (const number of outcome?.match(/\b\d+\b/g) ?? []) assert.ok(text.includes(number), text);
        for (const type of codesIn(message as string)) assert.ok(text.includes(type), text);
        for (const name of codesIn(outcome as string).filter((one) => /^(remaining|daily_cap)$/.test(one))) {
          const row = table('### Error entry\n').find(([en]) => codeOf(en) === name);
          assert.ok(text.includes(codeOf(row?.[index])), `${name}: ${text}`);
        }
      }
    });

    it('D41: both have the same types of events with the same members, and the same codes of reasons', () => {
      const members = table('### Partner event\n');
      const types = table('The types of events:\n').map(([type]) => {
        const own = members.filter(
          ([name, , on]) =>
            name?.includes('data.') && (on === 'every event' || codesIn(on as string).includes(codeOf(type))),
        );
        return [codeOf(type), own.map(([name]) => codeOf(name).replace('data.', '')).join(', ')];
      });
      assert.deepEqual(
        shown('types').map(([type, , data]) => [type, data]),
        types,
      );
      const actions = table('by the action of the review:\n');
      const codes = new Set(actions.flatMap(([, list]) => codesIn(list as string)));
      assert.deepEqual(new Set(shown('reasons').map(([reason]) => reason)), codes);
      for (const [reason, , of] of shown('reasons')) {
        const uses = actions.filter(([, list]) => codesIn(list as string).includes(reason as string));
        assert.equal(of?.split(', ').length, uses.length, reason);
      }
    });

    it('D29, D41: both have the same codes of limits', () => {
      assert.deepEqual(
        shown('limits').map(([limit]) => limit),
        table('The codes of limits:\n').map(([limit]) => codeOf(limit)),
      );
    });

    it('contract "Limits": the page has every limit of a request', () => {
      const limits = table('\n## Limits\n').filter(([, , on]) => on?.includes('POST'));
      for (const [limit, value] of limits) {
        for (const number of `${limit} ${value}`.match(/\d{3,}/g) ?? []) {
          assert.ok(textOf(markup).includes(number), `${limit}: ${number}`);
        }
      }
    });
  });
}
