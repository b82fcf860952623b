/**
 * Writes a policy as a scorecard of PMML 4.4, for other programs and auditors (D51; docs/policy.md, "PMML"). The
 * channel of origin is the same for everybody, so its points are the initial score. PMML's scorecard has no limits and
 * no bands: these stand beside it as extensions. Pure.
 */
import { baselineOf } from '../../../domain/scorecard/card.ts';
import type { Constants } from '../../../domain/scorecard/constants.ts';
import {
  type PolicyDocument,
  type RatioAttribute,
  VALUES,
  type ValueAttribute,
} from '../../../domain/scorecard/document.ts';
import { CRITERIA, type Criterion } from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES } from '../../../ground/base/country-data.ts';

/** The PMML of a document with its constants, as XML. */
export function pmmlOf(document: PolicyDocument, constants: Constants): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">',
    `  <Header description="${escaped(document.title ?? document.version)}"><Application name="Ventanilla"/></Header>`,
    ...dataDictionary(),
    `  <Scorecard modelName="${escaped(document.version)}" functionName="regression" initialScore="${channelPoints(document)}" useReasonCodes="true" reasonCodeAlgorithm="pointsBelow" baselineMethod="other">`,
    ...extensions(document),
    '    <MiningSchema>',
    '      <MiningField name="score" usageType="target"/>',
    ...INPUTS.map(([name]) => `      <MiningField name="${name}"/>`),
    '    </MiningSchema>',
    '    <Output>',
    '      <OutputField name="predicted" feature="predictedValue" dataType="double" optype="continuous"/>',
    ...[1, 2, 3, 4].map(
      (rank) =>
        `      <OutputField name="reason${rank}" feature="reasonCode" rank="${rank}" dataType="string" optype="categorical"/>`,
    ),
    '    </Output>',
    ...ratio(constants),
    '    <Characteristics>',
    ...CRITERIA.filter((criterion) => criterion !== 'channel').flatMap((criterion) =>
      characteristic(criterion, document),
    ),
    '    </Characteristics>',
    ...verification(document),
    '  </Scorecard>',
    '</PMML>',
  ];
  return `${lines.join('\n')}\n`;
}

const VALUES_OF = {
  num_debts: VALUES.num_debts,
  debt_age: VALUES.debt_age,
  prior_history: VALUES.prior_history,
};
const INPUTS = [
  ['income', 'number'],
  ['debt_amount', 'number'],
  ['currency', 'currency'],
  ['num_debts', 'value'],
  ['debt_age', 'value'],
  ['prior_history', 'value'],
] as const;

function dataDictionary(): string[] {
  const continuous = (name: string) =>
    `    <DataField name="${name}" optype="continuous" dataType="double"/>`;
  const categorical = (name: string, values: readonly string[]) =>
    `    <DataField name="${name}" optype="categorical" dataType="string">${values.map((value) => `<Value value="${value}"/>`).join('')}</DataField>`;
  return [
    `  <DataDictionary numberOfFields="${INPUTS.length + 1}">`,
    continuous('score'),
    ...INPUTS.map(([name, kind]) => {
      if (kind === 'number') return continuous(name);
      return categorical(name, kind === 'currency' ? Object.keys(CURRENCIES) : VALUES_OF[name]);
    }),
    '  </DataDictionary>',
  ];
}

function channelPoints({ characteristics }: PolicyDocument): number {
  const [only] = VALUES.channel;
  return characteristics.channel.attributes.find(({ is }) => is.includes(only))!.points;
}

function extensions({ decision, limits }: PolicyDocument): string[] {
  return [
    `    <Extension name="decision" value="approved from ${decision.approved}, in_review from ${decision.in_review}"/>`,
    ...limits.map(({ id, usd, installments_of_income: share, reason }) => {
      const most = usd === undefined ? `installment up to ${share} of the income` : `amount up to ${usd} USD`;
      return `    <Extension name="limit" value="${escaped(`${id}: ${most}, else rejected, ${reason}`)}"/>`;
    }),
  ];
}

/** `LocalTransformations` with the ratio: the income divided by the reference installment. */
export function ratio({ factor, factors }: Constants): string[] {
  const constant = (value: string) => `<Constant dataType="double">${value}</Constant>`;
  const byCurrency = Object.entries(factors).reduce(
    (other, [currency, own]) =>
      `<Apply function="if"><Apply function="equal"><FieldRef field="currency"/><Constant dataType="string">${currency}</Constant></Apply>${constant(own)}${other}</Apply>`,
    constant(factor),
  );
  return [
    '    <LocalTransformations>',
    '      <DerivedField name="ratio" optype="continuous" dataType="double">',
    `        <Apply function="/"><FieldRef field="income"/><Apply function="*"><FieldRef field="debt_amount"/>${byCurrency}</Apply></Apply>`,
    '      </DerivedField>',
    '    </LocalTransformations>',
  ];
}

function characteristic(criterion: Exclude<Criterion, 'channel'>, document: PolicyDocument): string[] {
  const { characteristics } = document;
  const baseline = baselineOf(characteristics[criterion]);
  const attributes =
    criterion === 'payment_capacity'
      ? characteristics.payment_capacity.attributes.map((one) => attribute(one, interval(one)))
      : characteristics[criterion].attributes.map((one) => attribute(one, oneOf(criterion, one)));
  return [
    `      <Characteristic name="${criterion}" baselineScore="${baseline}" reasonCode="${criterion}">`,
    ...attributes,
    '      </Characteristic>',
  ];
}

function attribute({ points, reason }: RatioAttribute | ValueAttribute, predicate: string): string {
  const code = reason === undefined ? '' : ` reasonCode="${escaped(reason)}"`;
  return `        <Attribute partialScore="${points}"${code}>${predicate}</Attribute>`;
}

function interval({ from, to }: RatioAttribute): string {
  const simple = (operator: string, value: string) =>
    `<SimplePredicate field="ratio" operator="${operator}" value="${value}"/>`;
  // Nothing is below the first interval.
  const parts = [
    ...(Number(from) === 0 ? [] : [simple('greaterOrEqual', from)]),
    ...(to === undefined ? [] : [simple('lessThan', to)]),
  ];
  if (parts.length === 0) return '<True/>';
  if (parts.length === 1) return parts.join('');
  return `<CompoundPredicate booleanOperator="and">${parts.join('')}</CompoundPredicate>`;
}

function oneOf(field: string, { is }: ValueAttribute): string {
  const values = is.map((value) => `"${value}"`).join(' ');
  return `<SimpleSetPredicate field="${field}" booleanOperator="isIn"><Array type="string" n="${is.length}">${values}</Array></SimpleSetPredicate>`;
}

/** The examples of the document, as the standard's own check of an import. */
function verification({ examples = [] }: PolicyDocument): string[] {
  if (examples.length === 0) return [];
  const names = INPUTS.map(([name]) => name);
  return [
    `    <ModelVerification recordCount="${examples.length}" fieldCount="${names.length + 1}">`,
    '      <VerificationFields>',
    ...[...names, 'predicted'].map((name) => `        <VerificationField field="${name}" column="${name}"/>`),
    '      </VerificationFields>',
    '      <InlineTable>',
    ...examples.map(
      ({ application, expect }) =>
        `        <row>${names.map((name) => `<${name}>${application[name]}</${name}>`).join('')}<predicted>${expect.score}</predicted></row>`,
    ),
    '      </InlineTable>',
    '    </ModelVerification>',
  ];
}

/** A text as a value between quotes of XML. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
