/** Words without a value are shown with the options that give them one; none is taken by itself (D10). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldWord, readConsentWords } from '../../src/map/consent.ts';
import { optionsFor, readValueMaps, UnknownWords } from '../../src/map/words.ts';

type Field = Parameters<typeof optionsFor>[0];

function wordsOf(field: Field, ...words: unknown[]): UnknownWords {
  const all = new UnknownWords();
  for (const [index, word] of words.entries()) all.add(field, word, index + 2);
  return all;
}

function options(field: Field, ...words: unknown[]): string[] {
  const [[, found] = [field, null]] = wordsOf(field, ...words).all;
  return optionsFor(field, found ?? []);
}

const AGES: readonly (readonly [word: string, value: string])[] = [
  ['Más de 2 años', 'gt2'], ['mas de dos años', 'gt2'], ['> 24 meses', 'gt2'], ['2 años o más', 'gt2'], ['+2 años', 'gt2'],
  ['Mais de 2 anos', 'gt2'], ['more than 2 years', 'gt2'], ['3 años', 'VALUE'], ['30 meses', 'gt2'],
  ['Menos de 6 meses', 'lt6'], ['< 6 meses', 'lt6'], ['hasta 6 meses', 'lt6'], ['0 a 6 meses', 'lt6'], ['3 meses', 'lt6'],
  ['menos de seis meses', 'lt6'], ['até 6 meses', 'lt6'], ['1-3 meses', 'lt6'],
  ['6 a 12 meses', '6a12'], ['De 6 a 12 meses', '6a12'], ['entre 6 y 12 meses', '6a12'], ['6 meses a 1 año', '6a12'],
  ['6m-12m', '6a12'], ['8 meses', '6a12'],
  ['1 a 2 años', '1a2'], ['1-2 años', '1a2'], ['Entre 12 y 24 meses', '1a2'], ['um a dois anos', '1a2'], ['18 meses', '1a2'],
  // Each of these fits several values, or none.
  ['más de 6 meses', 'VALUE'], ['menos de 1 año', 'VALUE'], ['1 año', 'VALUE'], ['12 meses', 'VALUE'], ['3 a 9 meses', 'VALUE'],
  ['6-12', 'VALUE'], ['vieja', 'VALUE'], ['2024', 'VALUE'], ['12 a 6 meses', 'VALUE'],
]; // biome-ignore format: one table
const DEBTS = [
  ['una', '1'], ['1 deuda', '1'], ['dos', '2'], ['2 deudas', '2'], ['Três', '3'], ['3 o más', '3'], ['3+', '3'],
  ['2 o más', 'VALUE'], ['4', 'VALUE'], ['0', 'VALUE'], ['varias', 'VALUE'], ['más de 3', 'VALUE'], ['1 o 2', 'VALUE'],
] as const; // biome-ignore format: one table
const HISTORIES = [
  ['Sí', 'yes'], ['S', 'yes'], ['Sim', 'yes'], ['x', 'yes'], ['1', 'yes'], ['Tiene historial', 'yes'], ['Con historial', 'yes'],
  ['N', 'no'], ['Não', 'no'], ['0', 'no'], ['Sin historial', 'no'], ['No tiene', 'no'], ['Ninguno', 'no'],
  ['bueno', 'VALUE'], ['?', 'VALUE'], ['nose', 'VALUE'],
] as const; // biome-ignore format: one table

test('each word gets a finished option, with the value that it means, and VALUE where nobody knows it', () => {
  for (const [field, table] of [
    ['debt_age', AGES],
    ['num_debts', DEBTS],
    ['prior_history', HISTORIES],
  ] as const) {
    for (const [word, value] of table) {
      assert.deepEqual(options(field, word), [`--map "${field}:${word}=${value}"`]);
      if (value !== 'VALUE') assert.equal(readValueMaps([`${field}:${word}=${value}`]).get(field)?.size, 1);
    }
  }
});

test('words for consent get one option --consent-values, which is taken as it is', () => {
  const said = (...words: string[]) => options('messaging_optin', ...words);
  assert.deepEqual(said('Sí', 'No', 'SI'), ['--consent-values "sí/no"']);
  assert.deepEqual(said('1', '0'), ['--consent-values "1/0"']);
  assert.deepEqual(said('Acepta'), ['--consent-values "acepta/no"']);
  assert.deepEqual(said('no acepta'), ['--consent-values "sí/no acepta"']);
  assert.deepEqual(said('S', 'pendiente'), [
    '--consent-values "s/no"',
    '--map "messaging_optin:pendiente=VALUE"',
  ]);
  assert.deepEqual(said('sí, acepto'), ['--map "messaging_optin:sí, acepto=VALUE"']);
  for (const words of [
    ['Sí', 'No'],
    ['1', '0'],
    ['Acepto', 'No acepto'],
  ]) {
    const [option = ''] = said(...words);
    const known = readConsentWords(/"(.*)"/.exec(option)?.[1] ?? '');
    assert.deepEqual(
      words.map((word) => known.get(foldWord(word))),
      [true, false],
    );
  }
});

test('words are counted whatever their capitals, accents, spaces and invisible characters', () => {
  const [[, found] = []] = wordsOf('debt_age', 'Más de 2 años', ' mas  de 2 ANOS', 'M\u200bás de 2 años').all;
  assert.deepEqual(found, [{ word: 'Más de 2 años', rows: 3, firstRow: 2 }]);
});

test('values of persons are not shown: many different words, long ones, phones, ID numbers, addresses', () => {
  for (const words of [
    Array.from({ length: 21 }, (_, index) => `word ${index}`),
    ['x'.repeat(41)],
    ['+57 300 555 0101'],
    ['1.020.304.050'],
    ['102030'],
    ['ana@example.test'],
  ])
    assert.deepEqual(wordsOf('prior_history', 'sí', ...words).all, [['prior_history', null]]);
});

test('a word that no quotes keep whole in every shell has no option: a file runs no command', () => {
  assert.deepEqual(
    options('debt_age', 'x" & del y', "$(x) 'y'", 'a\\', '`x`', '!x', "d'Ana", '< 6 meses & más'),
    [
      "--map 'debt_age:a\\=VALUE'",
      "--map 'debt_age:`x`=VALUE'",
      "--map 'debt_age:!x=VALUE'",
      '--map "debt_age:d\'Ana=VALUE"',
      '--map "debt_age:< 6 meses & más=lt6"',
    ],
  );
});

test('fields come in the order of the contract', () => {
  const all = new UnknownWords();
  for (const field of ['messaging_optin', 'debt_age', 'num_debts'] as const) all.add(field, 'x', 2);
  assert.deepEqual(
    all.all.map(([field]) => field),
    ['num_debts', 'debt_age', 'messaging_optin'],
  );
});
