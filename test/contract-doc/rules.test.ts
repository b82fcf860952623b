/** The tables of docs/contract.md on scores, statuses and messages equal the lists in the code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  APPLICATION_STATUSES,
  INITIAL_STATUS,
  isOpen,
  REVIEW_ACTIONS,
  TRANSITIONS,
} from '../../src/domain/application/lifecycle.ts';
import { DEFAULT_TEMPLATES, OUTCOME_TYPES } from '../../src/domain/message/notify.ts';
import { DEFAULT_BUTTONS, DEFAULT_PARAMETERS } from '../../src/domain/partner/brand.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { CRITERIA, DECISIONS, MAX_POINTS } from '../../src/domain/scorecard/scorecard.ts';
import { codeList, codesIn } from '../support/markdown.ts';
import { code, DOCUMENT, table, typeOf } from './page.ts';

describe('the contract’s page: scores, statuses, messages', () => {
  it('contract "Scoring", D27, D28: the page has the points of the code', () => {
    const expected = CRITERIA.map((criterion) => [code(criterion), `${MAX_POINTS[criterion]}`]);
    const rows = table('### Scoring\n').map(([, name, points]) => [name, points]);
    const total = Object.values(MAX_POINTS).reduce((sum, points) => sum + points, 0);
    assert.deepEqual(rows, [...expected, ['', `${total}`]]);
    const bands = DEFAULT_POLICY.payment_capacity.map(({ min_ratio, points }) => [
      `${min_ratio}`,
      `${points}`,
    ]);
    assert.deepEqual(table('**D27. '), [...bands, ['0', '0']]);
    const { months, monthly_rate } = DEFAULT_POLICY.reference_installment;
    assert.match(DOCUMENT, new RegExp(`in ${months} equal months at ${monthly_rate * 100} % a month`));
    const others = CRITERIA.filter((criterion) => criterion !== 'payment_capacity').map((criterion) => {
      const points = Object.entries(DEFAULT_POLICY[criterion]) as [string, number][];
      return new Set([criterion, ...points.map(([value, point]) => `\`${value}\` ${point}`)]);
    });
    const written = table('**D28. ').map(
      ([name, points]) => new Set([...codesIn(name as string), ...(points as string).split(', ')]),
    );
    assert.deepEqual(written, others);
  });

  it('contract "Outcome at creation", D29: the page has the bands and rates of the code', () => {
    const { approved, in_review } = DEFAULT_POLICY.decision;
    const when = [
      `score ${approved} to 100`,
      `score ${in_review} to ${approved - 1}`,
      `score 0 to ${in_review - 1}`,
    ];
    const rows = DECISIONS.map((decision, index) => [
      when[index] as string,
      code(decision),
      code(INITIAL_STATUS[decision]),
    ]);
    const above = ['amount above a limit', ...(rows.at(-1) as string[]).slice(1)];
    assert.deepEqual(table('### Outcome at creation\n'), [...rows, above]);
    const { rates } = DEFAULT_POLICY.amount_limit;
    for (const [currency, rate] of table('**D29. ')) {
      const [name] = codesIn(currency as string);
      assert.equal(`${rates[name as keyof typeof rates]}`, rate, name);
    }
  });

  it('contract "States and transitions", D34: the page has the statuses and transitions of the code', () => {
    const open = table('\n## States and transitions\n').map(([status, isItOpen]) => [status, isItOpen]);
    assert.deepEqual(
      open,
      APPLICATION_STATUSES.map((status) => [code(status), isOpen(status) ? 'yes' : 'no']),
    );
    assert.deepEqual(
      table('**D34. '),
      REVIEW_ACTIONS.map((action) => [
        code(action),
        codeList(TRANSITIONS[action].from),
        code(TRANSITIONS[action].to),
      ]),
    );
  });

  it('D31, D32: the page has the message types and templates of the code', () => {
    assert.deepEqual(
      table('**D31. '),
      DECISIONS.map((decision, index) => {
        const type = OUTCOME_TYPES[index] as (typeof OUTCOME_TYPES)[number];
        const full = DEFAULT_PARAMETERS[type].includes('debt') && DEFAULT_BUTTONS[type].es.length > 0;
        return [code(decision), code(typeOf(decision)), full ? 'yes' : 'no'];
      }),
    );
    assert.deepEqual(
      table('**D32. '),
      OUTCOME_TYPES.map((type) => [code(type), code(DEFAULT_TEMPLATES[type])]),
    );
  });
});
