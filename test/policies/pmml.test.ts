/**
 * The PMML of a policy says what the policy decides: an evaluator that was written from the standard alone (PMML 4.4,
 * "Scorecard") gives the same score and the same reasons in the same order (D51).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SaxesParser } from 'saxes';
import { cardOfContent, documentOf, newConstantsOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import type { DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';
import { pmmlOf } from '../../src/subjects/policies/rules/pmml.ts';
import { madeFacts, madePolicy, numbers } from '../evaluation/made-policies.ts';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

function parse(xml: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: '' };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    open.at(-1)!.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
  return root.children[0]!;
}

const child = (element: Element, name: string): Element => {
  const found = element.children.find((one) => one.name === name);
  assert.ok(found, `${element.name} has no ${name}`);
  return found;
};

type Row = Readonly<Record<string, string | number>>;

/** An expression of the transformation dictionary. */
function expression({ name, attributes, children, text }: Element, row: Row): string | number {
  if (name === 'FieldRef') return row[attributes.field!]!;
  if (name === 'Constant') return attributes.dataType === 'double' ? Number(text) : text;
  assert.equal(name, 'Apply');
  const [first, second, third] = children as [Element, Element, Element];
  switch (attributes.function) {
    case '/':
      return Number(expression(first, row)) / Number(expression(second, row));
    case '*':
      return Number(expression(first, row)) * Number(expression(second, row));
    case 'equal':
      return expression(first, row) === expression(second, row) ? 1 : 0;
    case 'if':
      return expression(first, row) === 1 ? expression(second, row) : expression(third, row);
    default:
      throw new Error(`the function ${attributes.function}`);
  }
}

function holds({ name, attributes, children }: Element, row: Row): boolean {
  const value = row[attributes.field ?? ''];
  switch (name) {
    case 'True':
      return true;
    case 'SimplePredicate': {
      const bound = Number(attributes.value);
      return attributes.operator === 'lessThan' ? Number(value) < bound : Number(value) >= bound;
    }
    case 'CompoundPredicate':
      return children.every((one) => holds(one, row));
    case 'SimpleSetPredicate':
      return [...children[0]!.text.matchAll(/"([^"]*)"/g)].some(([, one]) => one === value);
    default:
      throw new Error(`the predicate ${name}`);
  }
}

/** The score, and the reason codes by the points below the baseline, without those that lost none. */
function evaluate(model: Element, facts: DecisionFacts) {
  const row: Record<string, string | number> = { ...facts };
  for (const { attributes, children } of child(model, 'LocalTransformations').children)
    row[attributes.name!] = expression(children[0]!, row);
  let score = Number(model.attributes.initialScore);
  const below: { code: string; points: number }[] = [];
  for (const characteristic of child(model, 'Characteristics').children) {
    const attribute = characteristic.children.find(({ children }) => holds(children[0]!, row));
    assert.ok(attribute, 'an attribute holds');
    const partial = Number(attribute.attributes.partialScore);
    score += partial;
    below.push({
      code: attribute.attributes.reasonCode ?? characteristic.attributes.reasonCode!,
      points: Number(characteristic.attributes.baselineScore) - partial,
    });
  }
  const reasons = below.filter(({ points }) => points > 0).toSorted((a, b) => b.points - a.points);
  return { score, reasons: [...new Set(reasons.map(({ code }) => code))] };
}

function sameAs(document: PolicyDocument, applications: readonly DecisionFacts[]): void {
  const constants = newConstantsOf(document);
  const card = cardOfContent(document, constants);
  const model = child(parse(pmmlOf(document, constants)), 'Scorecard');
  for (const facts of applications) {
    const { score, decision, reasons, limit } = card.decide(facts);
    const found = evaluate(model, facts);
    assert.equal(found.score, score);
    if (decision !== 'approved' && limit === null) assert.deepEqual(found.reasons, reasons);
  }
}

it('D51: the built-in policy and 50 made-up ones, with 200 applications each', () => {
  const next = numbers(35);
  const applications = () => Array.from({ length: 200 }, () => madeFacts(next));
  sameAs(documentOf(DEFAULT_POLICY), applications());
  for (let n = 0; n < 50; n += 1) sameAs(madePolicy(next), applications());
});

it('D51: terms of a currency, texts with markup and examples are in it', () => {
  const application = madeFacts(numbers(36));
  const sound = documentOf(DEFAULT_POLICY);
  const document: PolicyDocument = {
    ...sound,
    title: 'For <A> & "B"',
    reference_installment: {
      ...sound.reference_installment,
      by_currency: { MXN: { months: 12, monthly_rate: '0.03' }, CLP: { months: 6, monthly_rate: '0' } },
    },
    examples: [{ application, expect: { score: 47, decision: 'in_review' } }],
  };
  const next = numbers(37);
  sameAs(
    document,
    Array.from({ length: 200 }, () => madeFacts(next)),
  );
  const pmml = parse(pmmlOf(document, newConstantsOf(document)));
  assert.equal(child(pmml, 'Header').attributes.description, 'For <A> & "B"');
  const model = child(pmml, 'Scorecard');
  const rows = child(child(model, 'ModelVerification'), 'InlineTable').children;
  assert.deepEqual(rows[0]!.children.map(({ name, text }) => [name, text]).at(-1), ['predicted', '47']);
  const limits = model.children.filter(({ attributes }) => attributes.name === 'limit');
  assert.equal(limits.length, 2);
});
