/** How statements write months, amounts and names, and what is not one of these. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { amountsIn, readAmount, writeAmount } from '../../../src/domain/document/amount.ts';
import { fold, foldCharacters } from '../../../src/domain/document/fold.ts';
import { matchHolder } from '../../../src/domain/document/holder.ts';
import { isMonth, monthAt, monthOfDay } from '../../../src/domain/document/month.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';

describe('a month at the beginning of a line', () => {
  for (const [line, month] of [
    ['enero de 2026   $ 1.000', '2026-01'],
    ['Enero del 2026', null],
    ['FEBRERO 2026', '2026-02'],
    ['  mar. 2026  10', '2026-03'],
    ['março/2026', '2026-03'],
    ['Setembro de 2025', '2025-09'],
    ['setiembre 2025', '2025-09'],
    ['sept 2025', '2025-09'],
    ["dez'25", '2025-12'],
    ['dic-25', '2025-12'],
    ['may 42 viajes', null],
    ['mayo 42', null],
    ['05/2026  $ 10', '2026-05'],
    ['2026-05', '2026-05'],
    ['5/2026', '2026-05'],
    ['12/05/2026', null],
    ['2026-05-12', null],
    ['13/2026', null],
    ['marte 2026', null],
    ['octubrex 2026', null],
    ['octubre 20261', null],
    ['Total 2026', null],
    ['', null],
  ] as const) {
    it(`${JSON.stringify(line)} is ${month}`, () => assert.equal(monthAt(line)?.month ?? null, month));
  }

  it('is read from what ends with it, so that the rest of the line is the rest', () => {
    const line = '  Agosto de 2026   212';
    assert.equal(line.slice(monthAt(line)?.length), '   212');
  });
});

describe('the month of a day', () => {
  for (const [text, month] of [
    ['12/11/2026', '2026-11'],
    ['2026-11-12', '2026-11'],
    ['12.11.2026', '2026-11'],
    ['3 de noviembre de 2026', '2026-11'],
    ['Bogotá, 3 nov 2026', '2026-11'],
    ['5 de março de 2026', '2026-03'],
    ['12/13/2026', null],
    ['hoy', null],
  ] as const) {
    it(`${text} is in ${month}`, () => assert.equal(monthOfDay(text), month));
  }
});

describe('an amount', () => {
  for (const [text, mark, amounts] of [
    ['$ 1.234.567,00', ',', [123_456_700]],
    ['$1,234,567.5', '.', [123_456_750]],
    ['R$ 2.345,67', null, [234_567]],
    ['S/ 1,200.50', null, [120_050]],
    ['1234567', null, [123_456_700]],
    ['1.234', null, [123_400]],
    ['12,5', null, [1_250]],
    ['212   $ 2.310.400,00', ',', [21_200, 231_040_000]],
    ['-1.234,00', ',', [-123_400]],
    ['- $ 10,00', ',', [-1_000]],
    ['1,234.00', ',', []],
    ['1.234,00', '.', []],
    ['1.234.56', null, []],
    ['1,234.567', null, []],
    ['99999999999999', null, []],
    ['sin datos', null, []],
  ] as const) {
    it(`${text} with ${mark} is ${amounts}`, () => assert.deepEqual(amountsIn(text, mark), amounts));
  }

  it('is the same after it was written and read, for every whole number of hundredths', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9e13 }), (value) => {
        assert.equal(readAmount(writeAmount(value)), value);
      }),
    );
  });

  it('is read from text of any kind without a failure and in time', async () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,-$ R'), maxLength: 500 }), (text) => {
        for (const amount of amountsIn(text)) assert.ok(Number.isSafeInteger(amount));
      }),
    );
    const took = await cpuMsOf(() => amountsIn('1.'.repeat(250) + '1,'.repeat(250)));
    assert.ok(took < 1_000, `${took} ms of CPU`);
  });

  it('of another form than 1234.50 is no amount of an operator', () => {
    for (const text of ['', '1.234,00', '-1', '1.234', '1e5', ' 1', '99999999999999']) {
      assert.equal(readAmount(text), null, text);
    }
    assert.ok(isMonth('2026-12') && !isMonth('2026-13') && !isMonth('1999-01') && !isMonth('2026-1'));
  });
});

describe('the holder', () => {
  for (const [name, other, match] of [
    ['Ana María Pérez Gómez', 'PEREZ GOMEZ ANA MARIA', 'same'],
    ['Ana Perez', 'Ana María Pérez Gómez', 'same'],
    ['João da Silva Souza', 'JOAO DA SILVA SOUZA', 'same'],
    ['Ana de la Cruz', 'ana cruz', 'same'],
    ['Ana Perez', 'Luis Perez', 'another'],
    ['Ana Maria Perez', 'Ana Lucia Perez', 'another'],
    ['Ana', 'Ana Perez', 'unknown'],
    ['Ana', 'Luis Perez', 'another'],
    ['Ana Perez', '', 'unknown'],
    ['Ana Perez', null, 'unknown'],
    ['Ana Ana Perez', 'Ana Perez Perez', 'another'],
  ] as const) {
    it(`named ${name} and ${other}: ${match}`, () => {
      assert.equal(matchHolder({ name, idNumber: null }, { name: other, idNumber: null }), match);
      if (other !== null) {
        assert.equal(matchHolder({ name: other, idNumber: null }, { name, idNumber: null }), match);
      }
    });
  }

  for (const [number, other, match] of [
    ['52345678', 'CC 52.345.678', 'same'],
    ['0052345678', '52345678', 'same'],
    ['HERL900101HDFRZS09', 'herl900101hdfrzs09', 'same'],
    ['123.456.789-09', '12345678909', 'same'],
    ['CC52345678', '52.345.678', 'same'],
    ['52345678', 'C.C.52345678', 'same'],
    ['V52345678', 'V-52.345.678', 'same'],
    ['52345678', 'Cédula de ciudadanía No. 0052345678', 'same'],
    ['CC52345678', '****5678', 'same'],
    ['52345678', '****5678', 'same'],
    ['52345678', 'XXXX5679', 'another'],
    ['52345678', '****78', 'unknown'],
    ['52345678', '52345679', 'another'],
    ['52345678', null, 'unknown'],
  ] as const) {
    it(`with the numbers ${number} and ${other}: ${match}`, () => {
      assert.equal(matchHolder({ name: null, idNumber: number }, { name: null, idNumber: other }), match);
    });
  }

  it('is another one where the name fits and the number does not, and the other way round', () => {
    const ana = { name: 'Ana Perez', idNumber: '1' };
    assert.equal(matchHolder({ ...ana, idNumber: '123' }, { ...ana, idNumber: '124' }), 'another');
    assert.equal(matchHolder({ ...ana, idNumber: '123' }, { name: 'Luis Ruiz', idNumber: '123' }), 'another');
  });
});

it('folding keeps the number of characters, so that places in a text stay the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(foldCharacters(text).length, [...text].length);
      assert.ok(foldCharacters(text).every((character) => [...character].length === 1));
    }),
  );
  assert.equal(fold('  EMISSÃO   Año İstanbul '), 'emissao ano istanbul');
});
