/** The tables of docs/contract.md on requests and answers equal the lists in the code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NamedField } from '../../src/domain/application/fields.ts';
import { REVIEW_ACTIONS } from '../../src/domain/application/lifecycle.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';
import { REASON_CODES } from '../../src/domain/application/reason-codes.ts';
import {
  type ForcedOutcome,
  SANDBOX_DAILY_CAP,
  SANDBOX_SCENARIOS,
} from '../../src/domain/application/sandbox.ts';
import { PARTNER_EVENT_TYPES } from '../../src/domain/event/event.ts';
import type { Environment } from '../../src/domain/partner/credential.ts';
import { MAX_DIGITS, MIN_DIGITS } from '../../src/domain/phone/phone.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { LIMIT_CODES } from '../../src/domain/scorecard/scorecard.ts';
import { OPERATIONS, problemsOf } from '../../src/wire/contract/catalogue.ts';
import { isRequired, typeName } from '../../src/wire/contract/describe.ts';
import { DECISION_NAMES, NAMES, QUOTA_WINDOW, STATUS_NAMES } from '../../src/wire/contract/response.ts';
import {
  DEFAULT_EVENTS,
  faultTexts,
  MAX_APPLICATIONS,
  MAX_BODY_BYTES,
  MAX_EVENTS,
  MAX_VALUES,
  REFUSAL_TEXTS,
  REQUEST_PROBLEMS,
  requestStatus,
  requestText,
  UNCOUNTED_BYTES,
} from '../../src/wire/contract/texts.ts';
import { codeList, codesIn } from '../support/markdown.ts';
import { code, DOCUMENT, fields, table, typeOf } from './page.ts';

const textOf = faultTexts(fields);

/** The cells of the table for a field: the values that the field takes, and the meaning of its absence. */
function taken({ rule }: NamedField): [takes: string, absent: string] {
  switch (rule.kind) {
    case 'text':
      return [`1 to ${rule.max} characters`, 'error'];
    case 'label':
      return [`at most ${rule.max} characters`, code(rule.fallback)];
    case 'phone':
      return [`${MIN_DIGITS} to ${MAX_DIGITS} digits in at most ${rule.max} characters`, 'no phone'];
    case 'note':
      return [`at most ${rule.max} characters`, 'nothing'];
    case 'instant':
      return ['a date and time of ISO 8601', 'nothing'];
    case 'currency':
      return ['a code of ISO 4217', 'inferred'];
    case 'amount':
      return ['> 0, also as a string', 'error'];
    case 'consent':
      return [codeList(['true', 'false']), 'error'];
    case 'choice': {
      const integers = rule.integers === true ? ', also as an integer' : '';
      const spanish = rule.spanish === undefined ? '' : `, in Spanish ${codeList(Object.keys(rule.spanish))}`;
      return [codeList(rule.values) + integers + spanish, 'error'];
    }
  }
}

describe('the contract’s page: requests', () => {
  it('contract "Application input", D5-D12: the page has the fields of the code', () => {
    const expected = fields.map((field) => {
      const [takes, absent] = taken(field);
      return [code(field.name), codeList(field.aliases), typeName(field.rule), takes, absent];
    });
    const rows = table('### Application input\n');
    assert.deepEqual(rows, expected);
    for (const [index, field] of fields.entries()) {
      assert.equal(rows[index]?.at(-1) === 'error', isRequired(field.rule), field.name);
    }
  });

  it('contract "Application input": the page has the meanings of the ages of a debt', () => {
    const { rule } = fields.find(({ name }) => name === 'debt_age') as NamedField;
    const meanings = Object.entries((rule.kind === 'choice' && rule.meanings) || {});
    assert.deepEqual(
      table('How long the debt has been overdue:'),
      meanings.map(([value, { en, es }]) => [code(value), en, es]),
    );
  });

  it('contract "Limits": the page has the limits of the code', () => {
    const limits = new Map(table('\n## Limits\n').map(([limit, value]) => [limit as string, value]));
    const values = `JSON values in a body over ${UNCOUNTED_BYTES} bytes, at any depth`;
    assert.equal(limits.get('applications in a request'), `1 to ${MAX_APPLICATIONS}`);
    assert.equal(limits.get('bytes of a body'), `${MAX_BODY_BYTES}`);
    assert.equal(limits.get(values), `${MAX_VALUES}`);
    assert.equal(limits.get('events of a page'), `1 to ${MAX_EVENTS}`);
    assert.equal(limits.get('events of a page where the request has no `limit`'), `${DEFAULT_EVENTS}`);
    const parameters = new Map(table('### Read the events\n').map(([name, ...row]) => [name, row]));
    assert.deepEqual(parameters.get('`limit`'), [`1 to ${MAX_EVENTS}`, `${DEFAULT_EVENTS}`]);
    const amount = `${DEFAULT_POLICY.amount_limit.usd} USD ([D29](#d29))`;
    assert.equal(limits.get('amount above which an application is rejected'), amount);
    const share = `${DEFAULT_POLICY.amount_limit.max_installment_share} of the monthly income ([D29](#d29))`;
    assert.equal(limits.get('reference installment above which an application is rejected'), share);
  });

  it('D38: the page has the phones of the sandbox', () => {
    const cellsOf = (outcome: ForcedOutcome): string[] => {
      if (outcome.kind === 'duplicate') return ['duplicate', ''];
      if (outcome.kind === 'unavailable') return ['500 with `Retry-After` for the whole request', ''];
      if (outcome.kind === 'over_quota') {
        return [`over the quota: \`remaining\` 0, and the key's \`daily_cap\` or ${SANDBOX_DAILY_CAP}`, ''];
      }
      return [`${code(outcome.decision)}, score ${outcome.score}`, code(typeOf(outcome.decision))];
    };
    assert.deepEqual(
      table('**D38. '),
      SANDBOX_SCENARIOS.map(({ phone, outcome }) => [code(phone), ...cellsOf(outcome)]),
    );
  });
});

/** The words of the page for the operations that have a problem. */
const WHERE: Readonly<Record<string, string>> = {
  '': '`{base_url}` itself',
  'submit quota events application search': 'any request',
  'submit quota search': 'the paths of POST',
  'submit search': 'POST',
  'events application': 'the other paths of GET',
  events: 'the events',
  application: 'one application, and other paths',
  search: 'a search',
};

describe('the contract’s page: events', () => {
  it('D41: the page has every type of event and every code of a review’s reason', () => {
    assert.deepEqual(
      table('The types of events:\n').map(([type]) => type),
      PARTNER_EVENT_TYPES.map(code),
    );
    assert.deepEqual(
      table('by the action of the review:\n'),
      REVIEW_ACTIONS.map((action) => [action, REASON_CODES[action].map(code).join(', ')]),
    );
  });
});

describe('the contract’s page: answers', () => {
  it('D29, D41: the page has the codes of limits', () => {
    const rows = table('The codes of limits:\n');
    assert.deepEqual(
      rows.map(([limit]) => limit),
      LIMIT_CODES.map(code),
    );
  });

  it('contract "HTTP codes", D1-D3, D36: the page has every text of a failed request, with its code', () => {
    const where = (problem: (typeof REQUEST_PROBLEMS)[number]) => {
      const isOn = (environment: Environment) => problemsOf('quota', environment).includes(problem);
      if (isOn('PRO') !== isOn('DEV')) return isOn('DEV') ? '`/DEV`' : '`/PRO` and below it';
      const operations = OPERATIONS.filter((operation) =>
        problemsOf(operation, 'PRO').includes(problem),
      ).join(' ');
      if (operations === 'submit')
        return problemsOf('submit', 'DEV').includes(problem) ? 'a batch' : '`POST /PRO`';
      return WHERE[operations] ?? operations;
    };
    const expected = REQUEST_PROBLEMS.map((problem) => [
      `${requestStatus(problem)}`,
      code(requestText(problem, 'en')),
      code(requestText(problem, 'es')),
      where(problem),
    ]);
    assert.deepEqual(table('What the `error` of a failed request says:'), expected);
    const codes = new Set(['200', ...expected.map(([status]) => status)]);
    assert.deepEqual(
      table('\n## HTTP codes\n').map(([status]) => status),
      [...codes].sort(),
    );
  });

  it('contract "Per-application errors", D14, D26: the page has every text, in both languages', () => {
    const rows = table('\n## Per-application errors\n');
    const ofFields = rows.flatMap(([about, en, es]) =>
      codesIn(about as string).map((name) => [name, ...codesIn(en as string), ...codesIn(es as string)]),
    );
    const expected = fields.flatMap((field) => {
      const bad = [' ', [], 'x'].flatMap((value) => {
        const reading = readApplication({ [field.name]: value }, fields, 'CO');
        return reading.kind === 'invalid' ? reading.faults.filter((fault) => fault.field === field.name) : [];
      });
      const texts = bad.map((fault) =>
        [textOf([fault], 'en'), textOf([fault], 'es')].map((text) => text.replace(field.name, '<field>')),
      );
      return [...new Map(texts.map((pair) => [pair[0], [field.name, ...pair]])).values()];
    });
    const sorted = (list: string[][]) => list.map((entry) => entry.join(' | ')).sort();
    assert.deepEqual(sorted(ofFields), sorted(expected));
    const others = {
      'no object': 'not_an_object',
      duplicate: 'duplicate',
      'over the quota': 'over_quota',
    } as const;
    assert.deepEqual(
      rows.filter(([about]) => !about?.startsWith('`')),
      Object.entries(others).map(([about, kind]) => [
        about,
        code(REFUSAL_TEXTS[kind].en),
        code(REFUSAL_TEXTS[kind].es),
      ]),
    );
  });

  it('contract "Versioning", D25: the page has the names of decisions and statuses in both languages', () => {
    const pairs = (what: string, names: Record<'en' | 'es', Record<string, string>>) =>
      Object.keys(names.en).map((key) => [
        what,
        code(names.en[key] as string),
        code(names.es[key] as string),
      ]);
    assert.deepEqual(table('\n## Versioning\n'), [
      ...pairs('decision', DECISION_NAMES),
      ...pairs('status', STATUS_NAMES),
    ]);
  });

  it('D25: the page has every name that differs in Spanish beside the English name', () => {
    for (const [key, en] of Object.entries(NAMES.en)) {
      const es = NAMES.es[key as keyof typeof NAMES.es];
      const row = new RegExp(`^\\| \`(partner\\.)?${en}\` \\| \`(partner\\.)?${es}\` \\|`, 'm');
      assert.match(DOCUMENT, row, key);
    }
    assert.ok(DOCUMENT.includes(`\`window\` is always \`${QUOTA_WINDOW}\``));
  });
});
