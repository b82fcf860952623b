/** A scorecard in PMML makes a policy, or says which place cannot be read (D51). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentOf, newConstantsOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { pmmlOf } from '../../src/subjects/policies/rules/pmml.ts';
import { policyOfPmml } from '../../src/subjects/policies/rules/pmml-import.ts';
import { madeFacts, madePolicy, numbers } from '../evaluation/made-policies.ts';

const SOUND = documentOf(DEFAULT_POLICY);
const baseOf = (document: PolicyDocument) => ({ document, constants: newConstantsOf(document) });
const pmml = (document: PolicyDocument) => pmmlOf(document, newConstantsOf(document));

/** What an import keeps of a document: PMML does not say what only the policy has. */
function imported(document: PolicyDocument): PolicyDocument {
  const { title: _, examples: __, valid_from: ___, ...kept } = document;
  return { ...kept, version: 'new-1' };
}

it('property: an exported policy comes back', () => {
  const next = numbers(38);
  for (let n = 0; n < 50; n += 1) {
    const document = madePolicy(next);
    assert.deepEqual(policyOfPmml(pmml(document), baseOf(document), 'new-1', 'f'), imported(document));
  }
});

it('a baseline below the most points, one attribute for all, and an example come back', () => {
  const { characteristics } = SOUND;
  const application = madeFacts(numbers(39));
  const document: PolicyDocument = {
    ...SOUND,
    characteristics: {
      ...characteristics,
      payment_capacity: { attributes: [{ from: '0', points: 10 }] },
      num_debts: { ...characteristics.num_debts, baseline: 12 },
      debt_age: { attributes: [{ is: ['lt6', '6a12', '1a2', 'gt2'], points: 5 }] },
    },
  };
  const withExample = (score: number) =>
    pmml({ ...document, examples: [{ application, expect: { score, decision: 'rejected' } }] });
  const read = (xml: string) => policyOfPmml(xml, baseOf(document), 'new-1', 'f');
  const { characteristics: found } = read(pmml(document));
  assert.deepEqual(found.num_debts, document.characteristics.num_debts);
  assert.deepEqual(found.payment_capacity, document.characteristics.payment_capacity);
  assert.deepEqual(found.debt_age, document.characteristics.debt_age);
  const scores = Array.from({ length: 101 }, (_, score) => score).filter((score) => {
    try {
      read(withExample(score));
      return true;
    } catch (error) {
      assert.match(
        String(error),
        /row 1 of ModelVerification expects the score \d+, and the policy gives \d+/,
      );
      return false;
    }
  });
  assert.equal(scores.length, 1);
});

it('reads the other ways in which a program may write the same', () => {
  const xml = pmml(SOUND)
    .replace(
      /<SimpleSetPredicate field="debt_age" booleanOperator="isIn"><Array type="string" n="1">"lt6"<\/Array><\/SimpleSetPredicate>/,
      '<SimplePredicate field="debt_age" operator="equal" value="lt6"/>',
    )
    .replace('<Array type="string" n="1">"gt2"</Array>', '<Array type="string" n="1">gt2</Array>')
    .replaceAll('\n', '\r\n');
  assert.notEqual(xml, pmml(SOUND).replaceAll('\n', '\r\n'));
  assert.deepEqual(policyOfPmml(xml, baseOf(SOUND), 'new-1', 'f'), imported(SOUND));
});

const BAD: readonly [string, (xml: string) => string, RegExp][] = [
  ['no XML', () => '{}', /f: no XML/],
  ['cut off', (xml) => xml.slice(0, -20), /f: no XML/],
  ['entities that grow', (xml) => xml.replace('<PMML', '<!DOCTYPE a [<!ENTITY b "c">]><PMML').replace('Header description="', 'Header description="&b;'), /f: no XML/],
  ['deep nesting', () => '<a>'.repeat(100_000), /f: the file is more than 400 elements deep/],
  ['another document', () => '<html/>', /the file must have one PMML/],
  ['another model', (xml) => xml.replaceAll('Scorecard', 'TreeModel'), /PMML must have one Scorecard/],
  ['points above the baseline', (xml) => xml.replace('pointsBelow', 'pointsAbove'), /reasonCodeAlgorithm of Scorecard must be pointsBelow/],
  ['a classification', (xml) => xml.replace('"regression"', '"classification"'), /functionName of Scorecard must be regression/],
  ['another ratio', (xml) => xml.replace(/(<Constant dataType="double">)0\.\d+/, '$10.05'), /the ratio in LocalTransformations must be/],
  ['an unknown characteristic', (xml) => xml.replace('Characteristic name="num_debts"', 'Characteristic name="age"'), /a Characteristic age is unknown/],
  ['a characteristic twice', (xml) => xml.replace('Characteristic name="num_debts"', 'Characteristic name="debt_age"'), /the Characteristic debt_age is there twice/],
  ['no characteristic', (xml) => xml.replace(/<Characteristic name="num_debts"[\s\S]*?<\/Characteristic>/, ''), /the Characteristic num_debts is missing/],
  ['points that are words', (xml) => xml.replace('partialScore="25"', 'partialScore="many"'), /a partialScore of payment_capacity must be a number/],
  ['points that are no whole number', (xml) => xml.replace('partialScore="25"', 'partialScore="24.5"'), /characteristics.payment_capacity.*integer/],
  ['an interval of another kind', (xml) => xml.replace('operator="lessThan"', 'operator="lessOrEqual"'), /payment_capacity must have the ratio greaterOrEqual and lessThan/],
  ['a bound twice', (xml) => xml.replace(/operator="greaterOrEqual" value="1.5"/, 'operator="lessThan" value="1.5"'), /must have each bound once/],
  ['either of two', (xml) => xml.replace('booleanOperator="and"', 'booleanOperator="or"'), /booleanOperator of a CompoundPredicate must be and/],
  ['all but some values', (xml) => xml.replace('isIn', 'isNotIn'), /must say which values it isIn/],
  ['a value that nobody sends', (xml) => xml.replaceAll('"gt2"', '"gt9"'), /characteristics.debt_age/],
  ['a reason that is no code', (xml) => xml.replace(/ reasonCode="capacity_[^"]*"/, ' reasonCode="&lt;script&gt;"'), /characteristics.payment_capacity.*reason/],
  ['a file that is too large', (xml) => xml + ' '.repeat(400_000), /larger than a scorecard may be/],
]; // biome-ignore format: one row a case

for (const [name, change, expected] of BAD)
  it(`refuses: ${name}`, () => {
    const xml = change(pmml(SOUND));
    assert.notEqual(xml, pmml(SOUND));
    assert.throws(() => policyOfPmml(xml, baseOf(SOUND), 'new-1', 'f'), expected);
  });
