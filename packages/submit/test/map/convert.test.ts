/** A typed value is converted only where it has one meaning (D8, D10). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Decimal, readAmount } from '../../src/map/amount.ts';
import { BULK_FIELDS, mapColumns, simplify } from '../../src/map/columns.ts';
import { readConsentWords, TRUE_AND_FALSE } from '../../src/map/consent.ts';
import { isValueMap, readValueMaps } from '../../src/map/words.ts';
import { allOf, applicant, csvOf, fileOf, sourceOf } from '../files.ts';

const NBSP = '\u00a0';
const AMOUNTS: readonly (readonly [typed: string, read: string])[] = [
  ['1500000', '1500000'], ['3.20E+06', 'cut'], ['3,2E+06', 'cut'], ['1E+06', 'cut'], ['3.2e+06', '3.2e+06'],
  ['3.2E6', '3.2E6'], ['3.200000E+06', '3.200000E+06'], ['0123', '0123'], ['1.5e6', '1.5e6'], ['2E3', '2E3'],
  ['1.500.000,50', '1500000.50'], ['1,500,000.50', '1500000.50'], ['1.500.000', '1500000'], ['1,500,000', '1500000'],
  ['1.500,5', '1500.5'], ['1,500.5', '1500.5'], ['1 500 000', '1500000'], [`1${NBSP}500,25`, '1500.25'],
  ['1\u202f500.25', '1500.25'], ['1500,5', '1500.5'], ['1500.50', '1500.50'], ['0,500', '0.500'], ['0.500', '0.500'],
  ['1234.567', '1234.567'], ['1234,567', '1234.567'], ['1,50', '1.50'], ['1.5000', '1.5000'],
  ['1.500', 'ambiguous'], ['1,500', 'ambiguous'], ['999.999', 'ambiguous'], ['12,345', 'ambiguous'],
  ['15%', 'other'], ['$ 1500', 'other'], ['1.500.00', 'other'], ['1,50,000', 'other'], ['1.500,000,00', 'other'],
  ['2024-01-05', 'other'], ['05/01/2024', 'other'], ['-5', 'other'], ['+5', 'other'], ['', 'other'], ['.5', 'other'],
  ['5.', 'other'], ['0x10', 'other'], ['Infinity', 'other'], ['1.500.000.50', 'other'], ['1 50', 'other'],
  ["1'500", 'other'], ['１５', 'other'], ['1..5', 'other'],
]; // biome-ignore format: one table

test('an amount with one meaning is converted, one with two is refused, one with none is left to the service', () => {
  for (const [typed, read] of AMOUNTS) {
    const amount = readAmount(typed, null);
    assert.equal(amount.kind === 'number' ? amount.text : amount.kind, read, typed);
  }
});

test('--decimal decides ambiguous amounts only', () => {
  const settled: [typed: string, decimal: Decimal, read: string][] = [
    ['1.500', 'comma', '1500'],
    ['1.500', 'point', '1.500'],
    ['1,500', 'comma', '1.500'],
    ['1,500', 'point', '1500'],
  ];
  for (const [typed, decimal, read] of settled) {
    const amount = readAmount(typed, decimal);
    assert.equal(amount.kind === 'number' && amount.text, read, `${typed} ${decimal}`);
  }
  for (const [typed, read] of AMOUNTS.filter(([, one]) => one !== 'ambiguous')) {
    for (const decimal of ['comma', 'point'] as const) {
      const amount = readAmount(typed, decimal);
      assert.equal(amount.kind === 'number' ? amount.text : amount.kind, read, `${typed} ${decimal}`);
    }
  }
});

test("an amount in any country's form reads as that amount, or is ambiguous", () => {
  const cents = fc.integer({ min: 1, max: 10 ** 12 });
  const locale = fc.constantFrom('en-US', 'es-CO', 'de-DE', 'fr-FR', 'es-MX', 'pt-BR');
  fc.assert(
    fc.property(cents, locale, fc.integer({ min: 0, max: 3 }), (amount, country, digits) => {
      const value = Number((amount / 100).toFixed(digits));
      const typed = value.toLocaleString(country, {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });
      const read = readAmount(typed, null);
      if (read.kind !== 'ambiguous') assert.equal(read.kind === 'number' && Number(read.text), value, typed);
      assert.notEqual(read.kind, 'other', typed);
    }),
  );
});

const first = async (changes: Record<string, string>, conversion: object = {}) => {
  const plain = { decimal: null, consent: TRUE_AND_FALSE, values: new Map(), country: null };
  const source = await sourceOf(fileOf('a.csv', csvOf([applicant(changes)])), {
    conversion: { ...plain, ...conversion },
  });
  const [item] = await allOf(source.convertedRows());
  assert.ok(item);
  return item;
};

test('consent is true or false, in the words of a spreadsheet in three languages, or a word of --consent-values', async () => {
  const consent = readConsentWords('Sí,1 / NO,0');
  const table: [typed: string, plain: unknown, said: unknown][] = [
    ['true', true, true], ['FALSE', false, false], [' True ', true, true],
    ['sí', 'sí', true], ['SI\u0301', 'SI\u0301', true], ['1', '1', true], ['0', '0', false], ['no', 'no', false],
    ['si', 'si', true], ['yes', 'yes', 'yes'], ['x', 'x', 'x'],
    ['VERDADERO', true, true], ['FALSO', false, false], ['Verdadeiro', true, true],
  ]; // biome-ignore format: one table
  for (const [typed, plain, said] of table) {
    assert.equal((await first({ messaging_optin: typed })).application.messaging_optin, plain, typed);
    assert.equal(
      (await first({ messaging_optin: typed }, { consent })).application.messaging_optin,
      said,
      typed,
    );
  }
  for (const wrong of ['sí', 'sí/', '/no', 'a/b/c', 'x/x'])
    assert.throws(() => readConsentWords(wrong), /consent/);
});

test('--map gives words of choice fields and of the consent a value; other words stay as they are (D10)', async () => {
  const values = readValueMaps([
    'debt_age:Más de 2 años=gt2',
    'antiguedad_mora: < 6 meses =LT6',
    'debt_age:>= 1 año=1a2',
    'num_debts:Tres o más=3',
    'num_debts:Una=1',
    'prior_history:Sí, siempre=yes',
    'prior_history:1=yes',
    'messaging_optin:Sí=true',
    'messaging_optin:1=true',
    'messaging_optin:No=false',
  ]);
  const table: [field: string, typed: string, sent: unknown][] = [
    ['debt_age', 'Más de 2 años', 'gt2'], ['debt_age', ' MAS DE  2 ANOS', 'gt2'], ['debt_age', 'más de 2 an\u0303os', 'gt2'],
    ['debt_age', '< 6 meses', 'lt6'], ['debt_age', '> 6 meses', '> 6 meses'], ['debt_age', '>= 1 año', '1a2'],
    ['debt_age', 'lt6', 'lt6'], ['num_debts', 'tres o más', '3'], ['num_debts', 'una', '1'], ['num_debts', '2', '2'],
    ['prior_history', 'Sí, siempre', 'yes'], ['prior_history', '1', 'yes'], ['prior_history', 'siempre', 'siempre'],
    ['messaging_optin', 'SÍ', true], ['messaging_optin', '1', true], ['messaging_optin', 'no', false],
    ['messaging_optin', 'FALSO', false], ['messaging_optin', 'tal vez', 'tal vez'],
  ]; // biome-ignore format: one table
  for (const [field, typed, sent] of table) {
    const { application, changes } = await first({ [field]: typed }, { values });
    assert.equal(application[field], sent, typed);
    if (sent === 'gt2') assert.deepEqual(changes, [{ field: 'debt_age', change: 'word of --map' }]);
  }
});

test('--map tells a word from a column, and the error for a wrong word says what is allowed', () => {
  const texts: [text: string, isValue: boolean][] = [
    ['income=Sueldo', false], ['income=Sueldo: neto', false], ['debt_age:> 2=gt2', true], ['debt_age:x', true],
  ]; // biome-ignore format: one table
  for (const [text, isValue] of texts) assert.equal(isValueMap(text), isValue, text);
  const wrong: [texts: string[], error: RegExp][] = [
    [['debt_age:x'], /--map debt_age:x: write it as field:word=value/],
    [['debt_age: =gt2'], /write it as field:word=value/],
    [['debt_age:x=old'], /must be one of: lt6, 6a12, 1a2, gt2/],
    [['messaging_optin:x=yes'], /must be one of: true, false/],
    [['income:x=5'], /these fields: num_debts, debt_age, prior_history, messaging_optin/],
    [['salary:x=5'], /these fields: num_debts/],
    [['debt_age:Año=gt2', 'debt_age:ano=1a2'], /the word has two values/],
  ];
  for (const [list, error] of wrong) assert.throws(() => readValueMaps(list), error);
});

const REQUIRED = [
  'name',
  'id_number',
  'city',
  'income',
  'debt_amount',
  'num_debts',
  'debt_age',
  'prior_history',
  'messaging_optin',
];
const columnOf = (columns: readonly string[], field: string, chosen: [string, string][] = []) => {
  const others = REQUIRED.filter((name) => name !== field);
  const all = [...columns, ...others];
  const mapped = mapColumns('a.csv', { columns: all, headerRow: 1, elsewhere: null }, BULK_FIELDS, {
    map: chosen,
    ignore: [],
  }).fields.find((one) => one.field.name === field);
  return mapped?.columns.map((index) => all[index]);
};

test('columns are found by every documented name and by likely spellings', () => {
  const found: [column: string, field: string][] = [
    ['Número de cédula', 'id_number'], ['CÉDULA', 'id_number'], ['Full name', 'name'], ['NOMBRE COMPLETO', 'name'],
    ['nombres y apellidos', 'name'], ['Ciudad de residencia', 'city'], ['Teléfono', 'phone'], ['num-deudas', 'num_debts'],
    ['Monto de la deuda', 'debt_amount'], ['monto_deuda_cop', 'debt_amount'], ['Ingreso mensual', 'income'],
    ['Antigüedad mora', 'debt_age'], ['historial previo', 'prior_history'], ['optin_whatsapp', 'messaging_optin'],
    ['Nome', 'name'], ['Nome completo', 'name'], ['CPF', 'id_number'], ['Nº do CPF', 'id_number'], ['Cidade', 'city'],
    ['Telefone', 'phone'], ['Telefone celular', 'phone'], ['Plataforma', 'platform'], ['Moeda', 'currency'],
    ['Renda', 'income'], ['RENDA MENSAL', 'income'], ['Valor da dívida', 'debt_amount'], ['Número de dívidas', 'num_debts'],
    ['Quantidade de dívidas', 'num_debts'], ['Tempo de atraso', 'debt_age'], ['Tempo em atraso', 'debt_age'],
    ['Histórico', 'prior_history'], ['Histórico de pagamentos', 'prior_history'], ['Consentimento', 'messaging_optin'],
    ['Número\u00a0de\u00a0cédula', 'id_number'], ['N° de cédula', 'id_number'], ['\ufeffNome', 'name'], ['Ｎｏｍｅ', 'name'],
    ['Numero de ce\u0301dula', 'id_number'], ['Valor da\ndívida:', 'debt_amount'],
    ['Teléfono (WhatsApp)', 'phone'], ['Tel.', 'phone'], ['Whats App', 'phone'], ['Celular/WhatsApp', 'phone'], ['Número de\u00a0WhatsApp', 'phone'],
    ['Nº de celular', 'phone'], ['N.º de teléfono', 'phone'], ['Telf. (con código de país)', 'phone'], ['Cel', 'phone'],
    ['Contact phone number', 'phone'], ['Teléfono\nde contacto', 'phone'], ['Te\u200blé\u00adfono', 'phone'], ['TELÉFONO MÓVIL:', 'phone'],
    ['Número do WhatsApp', 'phone'], ['N.º de cédula', 'id_number'], ['Num. documento', 'id_number'], ['Tipo de moneda', 'currency'],
    ['Historial crediticio', 'prior_history'], ['Histórico de crédito', 'prior_history'], ['Qtd. de dívidas', 'num_debts'],
    ['Cant. de deudas', 'num_debts'], ['Autoriza mensajes', 'messaging_optin'], ['Aceita receber mensagens', 'messaging_optin'],
    ['Tiempo de la deuda', 'debt_age'], ['Nro. móvil del titular', 'phone'], ['Celular do titular', 'phone'],
    ['WhatsApp optin', 'messaging_optin'], [' Debt  Amount ', 'debt_amount'], ['Moneda', 'currency'], ['Celular', 'phone'],
  ]; // biome-ignore format: one table
  for (const [column, field] of found) assert.deepEqual(columnOf([column], field), [column], column);
  for (const field of BULK_FIELDS) {
    for (const name of field.names) {
      for (const typed of [name, name.toUpperCase(), name.replaceAll('_', ' '), name.replaceAll('_', '-')]) {
        assert.deepEqual(columnOf([typed], field.name), [typed], typed);
      }
    }
  }
  assert.equal(simplify('  Número_de-CÉDULA. '), 'numero cedula');
});

test('both names of a field are read in the order of the contract (D5); --map wins', () => {
  assert.deepEqual(columnOf(['ingreso_cop', 'ingreso', 'income'], 'income'), [
    'income',
    'ingreso',
    'ingreso_cop',
  ]);
  assert.deepEqual(columnOf(['Sueldo', 'ingreso'], 'income', [['ingreso', 'sueldo']]), ['Sueldo']);
});

test('the error for a missing or ambiguous column names the column and its candidates', () => {
  const map =
    (columns: string[], chosen: [string, string][] = []) =>
    () =>
      mapColumns('a.csv', { columns, headerRow: 1, elsewhere: null }, BULK_FIELDS, {
        map: chosen,
        ignore: [],
      });
  assert.throws(
    map(REQUIRED.filter((name) => name !== 'income').concat('Sueldo')),
    /a\.csv: .*income.*Sueldo/,
  );
  assert.throws(map([...REQUIRED, 'income']), /"income" \(column 4\) and "income" \(column 10\)/);
  assert.throws(map([...REQUIRED.slice(1), 'solicitante', 'nombre completo']), /could all be name/);
  assert.throws(map(REQUIRED, [['salary', 'x']]), /no field "salary"/);
  assert.throws(
    map(REQUIRED, [['income', 'x']]),
    /a\.csv: .*"x", and there is none\. The file's columns: name, id_number/,
  );
  assert.throws(
    map([...REQUIRED, 'Sueldo', 'Sueldo'], [['income', 'Sueldo']]),
    /"Sueldo" \(column 10\) and "Sueldo" \(column 11\)/,
  );
  assert.throws(map([...REQUIRED, ''], [['income', '¿?']]), /a column "¿\?", and there is none/);
  // The first row is an applicant, so the error does not quote it.
  assert.throws(
    map(['Ana', '1020']),
    (error: Error) => !error.message.includes('Ana') && /Row 1 must hold/.test(error.message),
  );
});

test('an error about columns lists the columns of the file, in bounds', () => {
  const map = (columns: string[]) => () =>
    mapColumns(
      'a.csv',
      { columns, headerRow: 1, elsewhere: { en: 'Other sheets: 2 "x"', es: '', pt: '' } },
      BULK_FIELDS,
      { map: [], ignore: [] },
    );
  assert.throws(map(['Cliente', '', 'Ciudad\nactual', 'Sueldo 2026']), {
    message: /The row that should have names has numbers, so it is not shown\. Other sheets: 2 "x"$/,
  });
  assert.throws(map(['Cliente', '', 'Ciudad\nactual', 'y'.repeat(99)]), {
    message: new RegExp(
      `The file's columns: Cliente, Ciudad actual, ${'y'.repeat(40)}…\\. Other sheets: 2 "x"$`,
    ),
  });
  assert.throws(map(REQUIRED.slice(1).concat(Array.from({ length: 50 }, () => 'z'))), {
    message: /no column for name .*The file's columns: id_number, .*, z and 18 more\. Other sheets/,
  });
  assert.throws(map(['ana@example.test', 'x']), /is not shown/);
});
