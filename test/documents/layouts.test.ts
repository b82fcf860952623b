/** Layouts are data that prove themselves; what no layout knows is found by what statements have in common. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ToldError } from '../../src/ground/base/told-error.ts';
import { judgeDocument } from '../../src/subjects/documents/rules/judge-document.ts';
import type { EarningsLayout, Layout } from '../../src/subjects/documents/rules/layout.ts';
import { findStatement } from '../../src/subjects/documents/rules/statement.ts';
import { checkLayout, loadLayouts } from '../../src/subjects/documents/uses/load-layouts.ts';
import {
  STATEMENT_LAYOUTS,
  type Statement,
  statementRows,
} from '../../src/subjects/simulator/statement-rows.ts';

const layouts = await loadLayouts(null);
const earnings = layouts.filter((layout): layout is EarningsLayout => layout.kind !== 'debts');
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-layouts-'));
after(() => rmSync(folder, { recursive: true }));

const ANA: Statement = {
  layout: 'rodar-co-1',
  name: 'Ana María Pérez Gómez',
  idNumber: '52345678',
  issued: '2026-11-12',
  months: { '2026-08': 2_310_400, '2026-09': 2_184_950.5, '2026-10': 2_402_000 },
};
const linesOf = (statement: Statement) =>
  statementRows(statement).map((cells) => cells.filter((cell) => cell !== '').join('  '));
const holder = { name: ANA.name, idNumber: ANA.idNumber };
const read = (lines: readonly string[], more = {}) =>
  ({ method: 'text', pages: 1, confidence: 1, lines, ...more }) as const;

describe('the layouts of the program', () => {
  for (const layout of STATEMENT_LAYOUTS) {
    it(`${layout} finds what a generated statement says`, () => {
      const found = findStatement(linesOf({ ...ANA, layout }), layouts);
      assert.equal(found.layout, layout);
      assert.equal(found.holderName, ANA.name);
      assert.ok(found.holderId?.endsWith(ANA.idNumber));
      assert.equal(found.issued, '2026-11');
      assert.deepEqual(found.months, [
        { month: '2026-08', amount: 231_040_000 },
        { month: '2026-09', amount: layout === 'pedalea-cl-1' ? 218_495_100 : 218_495_050 },
        { month: '2026-10', amount: 240_200_000 },
      ]);
    });
  }
});

describe('each country of the contract has a layout', () => {
  it('in its own currency', () => {
    const currencies = earnings.map(({ currency }) => currency).sort();
    assert.deepEqual(currencies, ['ARS', 'BRL', 'CLP', 'COP', 'MXN', 'PEN']);
  });
  for (const { id, currency, examples } of earnings) {
    it(`${id}: the statement of its holder counts, and that of another person does not`, () => {
      for (const { lines, finds } of examples) {
        const own = { name: finds.holder_name, idNumber: finds.holder_id };
        const judged = judgeDocument('earnings', read(lines), own, layouts);
        assert.deepEqual([judged.reason, judged.finding?.currency], ['read', currency]);
        const other = { name: 'Nadie Conocido Jamás', idNumber: '1' };
        assert.equal(judgeDocument('earnings', read(lines), other, layouts).reason, 'another_holder');
      }
    });
  }
});

describe('a layout of the operator', () => {
  const good = JSON.parse(JSON.stringify(earnings[0])) as Record<string, unknown>;
  const cases: readonly [what: string, change: (layout: never) => unknown, error: RegExp][] = [
    [
      'without a part',
      ({ recognise: _, ...rest }: Record<string, unknown>) => rest,
      /mine.json: the layout .*recognise/,
    ],
    [
      'with an unknown part',
      (layout: object) => ({ ...layout, colour: 'red' }),
      /mine.json: colour is no part of a layout/,
    ],
    [
      'with the amount 0',
      (layout: Layout) => ({ ...layout, months: { ...layout.months, amount: 0 } }),
      /months.amount must not be 0/,
    ],
    ['with a confidence over 1', (layout: object) => ({ ...layout, confidence: 2 }), /mine.json: confidence/],
  ];
  for (const [what, change, error] of cases) {
    it(`${what} is refused`, () => {
      assert.throws(
        () => checkLayout(change({ ...good, id: 'mine' } as never), 'mine.json'),
        (thrown) => thrown instanceof ToldError && error.test(thrown.message),
      );
    });
  }

  it('that does not find what its example says, or takes the id or the statements of another one, is refused', async () => {
    const write = (layout: object) => writeFileSync(join(folder, 'mine.json'), JSON.stringify(layout));
    const example = earnings[0]!.examples[0]!;
    write({ ...good, id: 'mine', recognise: ['corre mais'], examples: [example] });
    await assert.rejects(loadLayouts(folder), /the layout corre-mais-br-1: .*is of the layout mine/);
    write(good);
    await assert.rejects(loadLayouts(folder), /two layouts of DOCUMENT_LAYOUTS have the id corre-mais-br-1/);
    const wrong = { ...example, lines: ['Mi plataforma', ...example.lines.slice(2)] };
    write({ ...good, id: 'mine', recognise: ['mi plataforma'], holder_name: ['CPF'], examples: [wrong] });
    await assert.rejects(loadLayouts(folder), /the layout mine: .* example 1 has another holder_name/);
    write({ ...good, id: 'mine', recognise: ['mi plataforma'], examples: [wrong] });
    assert.deepEqual((await loadLayouts(folder)).map(({ id }) => id).slice(0, 2), ['mine', layouts[0]?.id]);
    writeFileSync(join(folder, 'mine.json'), '{');
    await assert.rejects(loadLayouts(folder), /mine.json cannot be read as JSON/);
    await assert.rejects(loadLayouts(join(folder, 'nowhere')), /DOCUMENT_LAYOUTS .*nowhere cannot be read/);
  });
});

describe('what becomes of a statement', () => {
  const lines = linesOf(ANA);
  const judged = (purpose: 'earnings' | 'debts', some: readonly string[], more = {}, who: object = holder) =>
    judgeDocument(purpose, read(some, more), { ...holder, ...who }, layouts).reason;
  const without = (sign: string) => lines.filter((line) => !line.includes(sign));

  it('a known layout with the applicant as its holder counts', () => {
    assert.equal(judged('earnings', lines), 'read');
  });
  it('another name, or another number, goes to an operator', () => {
    assert.equal(judged('earnings', lines, {}, { name: 'Luis Ruiz' }), 'another_holder');
    assert.equal(judged('earnings', lines, {}, { idNumber: '99' }), 'another_holder');
    assert.equal(judged('debts', lines, {}, { name: 'Luis Ruiz', idNumber: '1' }), 'another_holder');
  });
  it('no holder, no month, or a layout that nobody knows goes to an operator', () => {
    assert.equal(
      judged(
        'earnings',
        without('Conductor').filter((line) => !line.includes('Documento')),
      ),
      'holder_not_found',
    );
    assert.equal(
      judged(
        'earnings',
        lines.filter((line) => !/ de 2026/.test(line)),
      ),
      'no_months',
    );
    assert.equal(judged('earnings', without('CERTIFICADO')), 'unknown_layout');
  });
  it('OCR is a hint, however sure it is', () => {
    assert.equal(judged('earnings', lines, { method: 'ocr', confidence: 0.99 }), 'low_confidence');
  });
  it('a statement of debts of any layout is kept, and one that names the applicant among others too', () => {
    assert.equal(judged('debts', ['Banco de Ejemplo', 'Saldo  $ 1.000']), 'stored');
    assert.equal(judged('debts', ['Nombre: Banco de Ejemplo', `Cliente ${ANA.name}`]), 'stored');
    assert.equal(judged('debts', ['Nombre: Luis Ruiz', 'Saldo  $ 1.000']), 'another_holder');
    const fault = { fault: 'no_text' } as const;
    assert.equal(judgeDocument('debts', fault, holder, layouts).reason, 'stored');
    assert.equal(judgeDocument('earnings', fault, holder, layouts).reason, 'no_text');
  });
  it('an unknown layout still gives its months as a hint', () => {
    const { finding } = judgeDocument('earnings', read(without('CERTIFICADO')), holder, layouts);
    assert.deepEqual(
      [finding?.layout, finding?.months.length, finding?.holderName, finding?.confidence],
      [null, 3, ANA.name, 0.5],
    );
  });
});
