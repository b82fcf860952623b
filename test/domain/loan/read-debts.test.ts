/** What an applicant writes about debts, and what is read of it (D52): a table by country. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isListOfDebts, readDebts } from '../../../src/domain/loan/read-debts.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';

const CURRENCY = { CO: 'COP', MX: 'MXN', BR: 'BRL', PE: 'PEN', CL: 'CLP', AR: 'ARS' } as const;
const read = (text: string, country: keyof typeof CURRENCY = 'CO') =>
  readDebts(text, { currency: CURRENCY[country], country: country as Country, today: '2026-12-01' });
const told = (text: string, country?: keyof typeof CURRENCY) => {
  const found = read(text, country);
  return found.kind === 'list'
    ? found.debts.map(({ creditor, balance, reference }) =>
        [creditor, balance, ...(reference === null ? [] : [reference])].join(' | '),
      )
    : found.kind === 'again'
      ? `${found.fault} ${found.lines.join(',')}`
      : found.kind;
};

/** Texts that are read, each in its country. */
const READ: [text: string, country: keyof typeof CURRENCY, debts: string[]][] = [
  ['Banco Azul 1.500.000', 'CO', ['Banco Azul | 1500000']],
  ['Nu 800 mil', 'CO', ['Nu | 800000']],
  ['tarjeta Éxito: $1.200.000,50', 'CO', ['tarjeta Éxito | 1200001']],
  ['Banco Azul 1500000', 'CO', ['Banco Azul | 1500000']],
  ['Banco Azul - 850.000', 'CO', ['Banco Azul | 850000']],
  ['Banco Azul $ 850.000 pesos', 'CO', ['Banco Azul | 850000']],
  ['Banco Azul COP 850.000', 'CO', ['Banco Azul | 850000']],
  ['Banco Azul 850.000 COP', 'CO', ['Banco Azul | 850000']],
  ['Banco Azul 1 500 000', 'CO', ['Banco Azul | 1500000']],
  ['Banco Azul 1,500,000', 'CO', ['Banco Azul | 1500000']],
  ["Caja Social 2'500.000", 'CO', ['Caja Social | 2500000']],
  ['D1 500.000', 'CO', ['D1 | 500000']],
  ['Sol 5.000.000', 'CO', ['Sol | 5000000']],
  ['Addi 1,5 millones', 'CO', ['Addi | 1500000']],
  ['Addi 1.5 millones', 'CO', ['Addi | 1500000']],
  ['Addi 2 millones de pesos', 'CO', ['Addi | 2000000']],
  ['Addi 1 millón 200 mil', 'CO', ['Addi | 1200000']],
  ['Addi 1 millon y 200 mil', 'CO', ['Addi | 1200000']],
  ['Nequi 800k', 'CO', ['Nequi | 800000']],
  ['Debo 800 mil a Nu', 'CO', ['Nu | 800000']],
  ['le debo $1.500.000 al Banco Azul', 'CO', ['Banco Azul | 1500000']],
  ['800 mil en Nu', 'CO', ['Nu | 800000']],
  ['Banco Azul ref 4711: 1.500.000', 'CO', ['Banco Azul | 1500000 | 4711']],
  ['Tarjeta Éxito terminada en 9876 $1.200.000', 'CO', ['Tarjeta Éxito | 1200000 | 9876']],
  ['Nu 1.000.000, Addi 500.000', 'CO', ['Nu | 1000000', 'Addi | 500000']],
  ['Nu 1.000.000; Addi 500.000', 'CO', ['Nu | 1000000', 'Addi | 500000']],
  [
    '1. Nu 1.000.000\n2) Addi 500.000\n- Rapi 50.000',
    'CO',
    ['Nu | 1000000', 'Addi | 500000', 'Rapi | 50000'],
  ],
  ['Mis deudas son:\nNu 1.000.000\nAddi 500.000\nTotal 1.500.000', 'CO', ['Nu | 1000000', 'Addi | 500000']],
  ['Nu\u00a0800\u00a0mil', 'CO', ['Nu | 800000']],
  ['Kueski 1,500', 'MX', ['Kueski | 1500.00']],
  ['Kueski $1,500.50', 'MX', ['Kueski | 1500.50']],
  ['Kueski 8 mil pesos', 'MX', ['Kueski | 8000.00']],
  ['Kueski 850', 'MX', ['Kueski | 850.00']],
  ['Nubank R$ 1.500,00', 'BR', ['Nubank | 1500.00']],
  ['Nubank 1.500', 'BR', ['Nubank | 1500.00']],
  ['devo 2 mil reais para Itaú', 'BR', ['Itaú | 2000.00']],
  ['Itaú: 1,2 milhão', 'BR', ['Itaú | 1200000.00']],
  ['Santander 3,5 milhões', 'BR', ['Santander | 3500000.00']],
  ['BCP S/ 1,200.50', 'PE', ['BCP | 1200.50']],
  ['Interbank 1200 soles', 'PE', ['Interbank | 1200.00']],
  ['Falabella 850.000', 'CL', ['Falabella | 850000']],
  ['Naranja 250.000,75', 'AR', ['Naranja | 250000.75']],
  ['I owe 20 thousand to Acme Bank', 'MX', ['Acme Bank | 20000.00']],
];

/** Texts of which lines are asked back. */
const ASKED: [text: string, country: keyof typeof CURRENCY, answer: string][] = [
  ['Banco Azul 1.500', 'CO', 'unclear 1'],
  ['Banco Azul 1,500', 'CO', 'unclear 1'],
  ['Banco Azul 1500', 'CO', 'unclear 1'],
  ['Nu 1.000.000\nBanco Azul 1.500\nAddi', 'CO', 'unclear 2,3'],
  ['Banco Azul 1.500 mil', 'CO', 'unclear 1'],
  ['Banco Azul 1,500', 'BR', 'unclear 1'],
  ['Kueski 1.500', 'MX', 'unclear 1'],
  ['Banco Azul 15.00.000', 'CO', 'unclear 1'],
  ['Banco Azul 1.500.000 o 1.600.000', 'CO', 'unclear 1'],
  ['Banco Azul 1.500.000 vencida', 'CO', 'unclear 1'],
  ['1.500.000', 'CO', 'unclear 1'],
  ['no debo 500.000 a Nu', 'CO', 'unclear 1'],
  ['no me dejen de escribir 500.000', 'CO', 'unclear 1'],
  ['Banco Azul 1 500.000', 'CO', 'unclear 1'],
  ['Nu 99999999999999999999', 'CO', 'unclear 1'],
  ['Total 1.500.000', 'CO', 'unclear 1'],
  ['Nu 1.000.000\nTotal 1.500.000', 'CO', 'unclear 2'],
  ['Banco Azul USD 1.500', 'CO', 'currency 1'],
  ['Banco Azul US$ 15.000', 'CO', 'currency 1'],
  ['Nu 1.000.000\nBanco Azul 1.500 dólares', 'CO', 'currency 2'],
  ['Banco Azul 80.000 pesos mexicanos', 'CO', 'currency 1'],
  ['Nubank R$ 1.500,00', 'CO', 'currency 1'],
  ['Nu 800 mil\nnú $800.000', 'CO', 'twice 2'],
  [
    Array.from({ length: 21 }, (_, index) => `Banco A${'b'.repeat(index)} 100.000`).join('\n'),
    'CO',
    'too_many',
  ],
  ['Nu 1 peso', 'MX', 'unclear 1'],
];

describe('what is read (D52)', () => {
  for (const [text, country, debts] of READ)
    it(`${country} ${JSON.stringify(text)}`, () => {
      assert.equal(isListOfDebts(text), true);
      assert.deepEqual(told(text, country), debts);
    });
});

describe('what is asked back (D52)', () => {
  for (const [text, country, answer] of ASKED)
    it(`${country} ${JSON.stringify(text).slice(0, 60)}: ${answer}`, () =>
      assert.equal(told(text, country), answer));
});

describe('what is no list', () => {
  for (const text of [
    'sí',
    'no tengo deudas',
    'tengo 3 deudas',
    'listo',
    'hola, ya voy',
    '123456',
    'quiero hablar con un asesor',
    '',
    '😀',
    'x'.repeat(5_000),
  ])
    it(JSON.stringify(text).slice(0, 50), () => assert.equal(isListOfDebts(text), false));
});

it('any text is read or asked back, and what is read obeys the rules of a list (D52)', () => {
  const words = fc.constantFrom(
    'Banco',
    'Nu',
    '1.500',
    '1.500.000',
    '800',
    'mil',
    'millón',
    '$',
    ',',
    '\n',
    ';',
    ' ',
    'ref',
    '#',
    '-',
    'COP',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.array(words).map((all) => all.join(' ')),
      ),
      (text) => {
        const found = read(text);
        isListOfDebts(text);
        if (found.kind === 'list')
          for (const { creditor, balance } of found.debts) {
            assert.match(creditor, /\p{L}/u);
            assert.match(balance, /^[1-9]\d*$/);
          }
        else if (found.kind === 'again') assert.ok(found.lines.length > 0);
      },
    ),
    { numRuns: 2_000 },
  );
});

it('a hostile text is read within a moment of the processor', () => {
  const begun = process.cpuUsage();
  for (const text of [
    '1.'.repeat(2_000),
    '1 '.repeat(2_000),
    'a '.repeat(2_000),
    '$'.repeat(4_000),
    'ref '.repeat(1_000),
    '1,a'.repeat(1_300),
  ])
    read(text.slice(0, 4_000));
  const { user } = process.cpuUsage(begun);
  assert.ok(user < 2_000_000, `${user} µs`);
});
