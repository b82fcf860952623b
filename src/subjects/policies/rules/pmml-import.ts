/**
 * Makes a policy of a scorecard in PMML 4.4 (D51; docs/policy.md, "PMML"): the points, baselines and reasons of its
 * characteristics, in place of those of another policy. It reads what `pmml.ts` writes of the standard. Another
 * part is refused, and never read as something else. Pure.
 */
import { SaxesParser } from 'saxes';
import { areDecidable } from '../../../domain/scorecard/card.ts';
import { cardOfContent } from '../../../domain/scorecard/content.ts';
import { MOST, type PolicyDocument, VALUES } from '../../../domain/scorecard/document.ts';
import { findingsOf } from '../../../domain/scorecard/findings.ts';
import { CRITERIA, type Criterion, type DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { checkPolicy } from './check-policy.ts';
import { ratio } from './pmml.ts';

/** The policy that gives what a scorecard of PMML has not: limits, rates, bands, terms, and the texts of reasons. */
export interface BasePolicy {
  readonly document: PolicyDocument;
  readonly constants: Parameters<typeof ratio>[0];
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** XML says the same as a document of JSON in about three times as many bytes, and the examples in five times. */
const MOST_BYTES = 5 * MOST.bytes;
/** A scorecard is some ten elements deep. An `if` for each currency is what goes deeper. */
const MOST_DEPTH = 400;

/**
 * The document `version` with the scorecard in `xml`; `source` names the file in errors. The rows of its
 * `ModelVerification` have to come out as they say. Throws `ToldError` with the place and the rule.
 */
export function policyOfPmml(xml: string, base: BasePolicy, version: string, source: string): PolicyDocument {
  if (Buffer.byteLength(xml) > MOST_BYTES)
    throw new ToldError(`${source} is larger than a scorecard may be: ${MOST_BYTES} bytes`);
  try {
    const model = only(rootOf(xml), 'Scorecard');
    checkModel(model, base);
    const { title: _, examples: __, valid_from: ___, ...kept } = base.document;
    const document = { ...kept, version, characteristics: characteristicsOf(model) };
    const checked = checkPolicy(document, source) as PolicyDocument;
    verify(model, checked);
    return checked;
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
    throw new ToldError(`${source}: ${error.message}`);
  }
}

/** What a file has that cannot be read as a policy. Inside of this module alone. */
class Unread extends Error {}

function rootOf(xml: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > MOST_DEPTH) throw new Unread(`the file is more than ${MOST_DEPTH} elements deep`);
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: '' };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    open.at(-1)!.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.on('error', (error) => {
    throw new Unread(`no XML: ${describeError(error)}`);
  });
  parser.write(xml).close();
  return only(top, 'PMML');
}

function all({ children }: Element, name: string): Element[] {
  return children.filter((one) => one.name === name);
}

function only(parent: Element, name: string): Element {
  const [found, ...more] = all(parent, name);
  if (found === undefined || more.length > 0)
    throw new Unread(`${parent.name || 'the file'} must have one ${name}`);
  return found;
}

function checkModel(model: Element, { document, constants }: BasePolicy): void {
  const { functionName, reasonCodeAlgorithm = 'pointsBelow' } = model.attributes;
  if (functionName !== 'regression') throw new Unread('functionName of Scorecard must be regression');
  if (reasonCodeAlgorithm !== 'pointsBelow')
    throw new Unread('reasonCodeAlgorithm of Scorecard must be pointsBelow');
  const ours = rootOf(`<PMML>${ratio(constants).join('')}</PMML>`);
  const said = only(model, 'LocalTransformations');
  if (written(said) !== written(only(ours, 'LocalTransformations')))
    throw new Unread(
      `the ratio in LocalTransformations must be the income divided by the reference installment of policy ${document.version}, as policy export writes it`,
    );
}

/** One text of an element, without the blanks between elements and the order of attributes. */
function written(element: Element): string {
  const values = ({ name, attributes, children, text }: Element): unknown => [
    ...[name, Object.entries(attributes).toSorted(), text.trim()],
    children.map(values),
  ];
  return JSON.stringify(values(element));
}

function characteristicsOf(model: Element): Record<Criterion, unknown> {
  const found = new Map<string, unknown>([['channel', channelOf(model)]]);
  for (const one of all(only(model, 'Characteristics'), 'Characteristic')) {
    const { name = '' } = one.attributes;
    if (!(CRITERIA as readonly string[]).includes(name))
      throw new Unread(`a Characteristic ${name} is unknown`);
    if (found.has(name)) throw new Unread(`the Characteristic ${name} is there twice`);
    found.set(name, characteristicOf(name as Exclude<Criterion, 'channel'>, one, model));
  }
  const missing = CRITERIA.find((criterion) => !found.has(criterion));
  if (missing !== undefined) throw new Unread(`the Characteristic ${missing} is missing`);
  return Object.fromEntries(CRITERIA.map((criterion) => [criterion, found.get(criterion)])) as Record<
    Criterion,
    unknown
  >;
}

function channelOf({ attributes: { initialScore = '0' } }: Element): unknown {
  return {
    attributes: [{ is: [...VALUES.channel], points: numberOf(initialScore, 'initialScore of Scorecard') }],
  };
}

function characteristicOf(
  criterion: Exclude<Criterion, 'channel'>,
  element: Element,
  model: Element,
): unknown {
  const attributes = all(element, 'Attribute').map((one) => ({
    ...(criterion === 'payment_capacity' ? intervalOf(one) : { is: valuesOf(criterion, one) }),
    points: numberOf(one.attributes.partialScore, `a partialScore of ${criterion}`),
    code: one.attributes.reasonCode,
  }));
  const most = Math.max(...attributes.map(({ points }) => points));
  const said = element.attributes.baselineScore ?? model.attributes.baselineScore;
  const baseline = said === undefined ? most : numberOf(said, `baselineScore of ${criterion}`);
  return {
    ...(baseline !== most && { baseline }),
    attributes: attributes.map(({ code, ...one }) => {
      const reason = code ?? (one.points < baseline ? element.attributes.reasonCode : undefined);
      return { ...one, ...(reason !== undefined && { reason }) };
    }),
  };
}

function numberOf(text: string | undefined, place: string): number {
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) throw new Unread(`${place} must be a number`);
  return Number(text);
}

/** The one predicate of an attribute. */
function predicateOf(attribute: Element): Element {
  const found = attribute.children.filter(({ name }) => name !== 'Extension');
  if (found.length !== 1) throw new Unread('an Attribute must have one predicate');
  return found[0]!;
}

function intervalOf(attribute: Element): { from: string; to?: string } {
  const predicate = predicateOf(attribute);
  if (predicate.name === 'True') return { from: '0' };
  const bounds = partsOf(predicate, 'and').map((part) => {
    const { field, operator, value } = part.attributes;
    const isBound = part.name === 'SimplePredicate' && field === 'ratio' && value !== undefined;
    if (isBound && operator === 'greaterOrEqual') return { from: value };
    if (isBound && operator === 'lessThan') return { to: value };
    throw new Unread(
      'an Attribute of payment_capacity must have the ratio greaterOrEqual and lessThan a number',
    );
  });
  if (bounds.length > 2 || (bounds.length === 2 && 'from' in bounds[0]! === 'from' in bounds[1]!))
    throw new Unread('an Attribute of payment_capacity must have each bound once');
  return Object.assign({ from: '0' }, ...bounds);
}

function valuesOf(field: string, attribute: Element): string[] {
  return partsOf(predicateOf(attribute), 'or').flatMap((part) => {
    const { name, attributes } = part;
    if (attributes.field === field && name === 'SimplePredicate' && attributes.operator === 'equal')
      return [attributes.value ?? ''];
    if (attributes.field === field && name === 'SimpleSetPredicate' && attributes.booleanOperator === 'isIn')
      return arrayOf(only(part, 'Array'));
    throw new Unread(`an Attribute of ${field} must say which values it isIn`);
  });
}

function partsOf(predicate: Element, operator: 'and' | 'or'): Element[] {
  if (predicate.name !== 'CompoundPredicate') return [predicate];
  if (predicate.attributes.booleanOperator !== operator)
    throw new Unread(`booleanOperator of a CompoundPredicate must be ${operator} there`);
  return predicate.children;
}

/** The standard's array: texts with a blank between them, in quotes where they have blanks. */
function arrayOf({ text }: Element): string[] {
  return [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

/** The standard's own check of an import. A policy that `policy add` will refuse has no scores. */
function verify(model: Element, document: PolicyDocument): void {
  const [verification] = all(model, 'ModelVerification');
  const findings = findingsOf(document, { today: document.rates.as_of, realFactors: {} });
  if (verification === undefined || findings.some(({ severity }) => severity === 'error')) return;
  const { decide } = cardOfContent(document);
  for (const [index, row] of all(only(verification, 'InlineTable'), 'row').entries()) {
    const place = `row ${index + 1} of ModelVerification`;
    const cell = (name: string) => only(row, name).text.trim();
    const facts = {
      income: numberOf(cell('income'), `income of ${place}`),
      debt_amount: numberOf(cell('debt_amount'), `debt_amount of ${place}`),
      ...Object.fromEntries(
        ['currency', 'num_debts', 'debt_age', 'prior_history'].map((name) => [name, cell(name)]),
      ),
    } as DecisionFacts;
    if (!areDecidable(facts)) throw new Unread(`${place} is no application`);
    const { score } = decide(facts);
    if (score !== numberOf(cell('predicted'), `predicted of ${place}`))
      throw new Unread(`${place} expects the score ${cell('predicted')}, and the policy gives ${score}`);
  }
}
