/** A column that looks like a field and is not sent is found, by its name or by its values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRows } from '../../src/map/check.ts';
import type { SourceOptions } from '../../src/map/source.ts';
import { type Applicant, applicant, csvOf, fileOf, sourceOf, xlsxOf } from '../files.ts';

/** The columns that look like fields: why, and the options that settle them. */
async function unsentOf(path: string, options: Partial<SourceOptions> = {}) {
  const { unsent } = await checkRows(await sourceOf(path, options));
  return unsent.map(({ name, looks, options: settling }) => [name, looks.en, ...settling]);
}

const NUMBERS = 'phones, ID numbers or long numbers';
const { phone: _, ...WITHOUT_PHONE } = applicant();
const csv = (...rows: Record<string, string>[]) =>
  fileOf('a.csv', csvOf(rows.map((row) => ({ ...applicant(), ...row }))));
const phoneless = (...rows: Record<string, string>[]) =>
  fileOf('a.csv', csvOf(rows.map((row) => ({ ...WITHOUT_PHONE, ...row }) as Applicant)));

test('phones below an unknown name are found in every form, where no column is the phone', async () => {
  for (const phone of [
    '+57 300 555 0101',
    '3005550101',
    '(300) 555-0101',
    '573005550101.0',
    '5,73005E+11',
    '="3005550101"',
    "'3005550101",
    '300 555 0101 / 301 555 0102',
    '\u200e+573005550101',
  ]) {
    const path = phoneless({ 'Escríbele a': phone }, { 'Escríbele a': phone });
    assert.deepEqual(
      await unsentOf(path),
      [['Escríbele a', NUMBERS, '--map "phone=Escríbele a"', '--ignore "Escríbele a"']],
      phone,
    );
  }
  const numbers = fileOf('a.xlsx', xlsxOf([{ ...WITHOUT_PHONE, Línea: 3_005_550_101 } as Applicant]));
  assert.deepEqual(
    (await unsentOf(numbers)).map(([name]) => name),
    ['Línea'],
  );
  const nested = fileOf(
    'a.json',
    JSON.stringify([{ ...WITHOUT_PHONE, contact: { phone: '+573005550101' } }]),
  );
  assert.deepEqual(
    (await unsentOf(nested)).map(([name]) => name),
    ['contact'],
  );
  const json = fileOf('a.json', JSON.stringify([{ ...WITHOUT_PHONE, mobilePhone: '+573005550101' }]));
  assert.deepEqual(
    (await unsentOf(json)).map(([name]) => name),
    ['mobilePhone'],
  );
});

test('a second column that looks like a field is found too, though the field has a column', async () => {
  for (const [name, value, looks] of [
    ['Celular referencia', '3105550101', NUMBERS],
    ['Código interno', '1020304050', NUMBERS],
    ['Cuota', '$ 320.000', 'amounts'],
    ['Salario básico', '450', 'amounts'],
    ['Comisión', '12.500,50', 'amounts'],
    ['Acepta política', 'Sí', 'yes and no'],
    ['Activo', 'FALSE', 'yes and no'],
    ['Apellidos', 'Gómez Ruiz', 'by its name'],
  ] as const) {
    const ignore = `--ignore "${name}"`;
    const options = looks === 'by its name' ? [ignore] : [ignore];
    assert.deepEqual(await unsentOf(csv({ [name]: value })), [[name, looks, ...options]], name);
    assert.deepEqual(await unsentOf(csv({ [name]: value }), { ignore: [name] }), []);
  }
});

test('an optional field without a column is found by a word of a name, or by its values', async () => {
  assert.deepEqual(await unsentOf(csv({ 'Moneda del préstamo': 'pesos' })), [
    [
      'Moneda del préstamo',
      'by its name',
      '--map "currency=Moneda del préstamo"',
      '--ignore "Moneda del préstamo"',
    ],
  ]);
  assert.deepEqual((await unsentOf(csv({ X: 'COP' }, { X: 'usd' })))[0]?.slice(0, 3), [
    'X',
    'currencies',
    '--map "currency=X"',
  ]);
  assert.deepEqual((await unsentOf(csv({ X: 'US$' })))[0]?.slice(0, 2), ['X', 'currencies']);
  assert.deepEqual(
    (await unsentOf(phoneless({ 'WhatsApp o fijo de la casa': 'el de siempre' })))[0]?.slice(0, 2),
    ['WhatsApp o fijo de la casa', 'by its name'],
  );
});

test('other columns are no fields: dates, words, small numbers, years, empty columns', async () => {
  const other = {
    Fecha: '2026-11-05',
    Hora: '10:22',
    'Tipo de documento': 'CC',
    Edad: '34',
    Viajes: '1250',
    Conductor: '8812',
    Dirección: 'Cl 127 # 15-45 apto 301',
    Ubicación: '4.711, -74.0721',
    Signo: '$',
    Año: '2019',
    Calificación: '4.8',
    Correo: 'ana@example.test',
    Barrio: 'Chapinero',
    'Teléfono fijo': '',
    Nota: 'llamar a las 5',
  };
  assert.deepEqual(await unsentOf(csv(other, other, other)), []);
});

test('a third of the values decides, of the first two hundred', async () => {
  const rows = (phones: number, words: number) => [
    ...Array.from({ length: phones }, () => ({ X: '3005550101' })),
    ...Array.from({ length: words }, () => ({ X: 'no tiene número' })),
  ];
  assert.equal((await unsentOf(csv(...rows(3, 6)))).length, 1);
  assert.equal((await unsentOf(csv(...rows(2, 5)))).length, 0);
  const late = [...Array.from({ length: 500 }, () => ({ X: '' })), { X: '3005550101' }];
  assert.equal((await unsentOf(csv(...late))).length, 1);
});

test('--map of one column settles the other columns with a name of that field', async () => {
  const path = csv({ Celular: '3105550101' });
  assert.equal((await unsentOf(path)).length, 1);
  assert.deepEqual(await unsentOf(path, { map: [['phone', 'phone']] }), []);
  assert.deepEqual(await unsentOf(path, { map: [['phone', 'Celular']] }), []);
});

test('a column without a name, or with the name of another, has its number in the options', async () => {
  const { columns, values } = Object.entries(WITHOUT_PHONE).reduce(
    (all, [name, value]) => ({ columns: [...all.columns, name], values: [...all.values, String(value)] }),
    { columns: [] as string[], values: [] as string[] },
  );
  const nameless = fileOf('a.csv', `,${columns.join(',')}\n3005550101,${values.join(',')}\n`);
  assert.deepEqual(await unsentOf(nameless), [['', NUMBERS, '--map "phone=#1"', '--ignore "#1"']]);
  assert.deepEqual(await unsentOf(nameless, { map: [['phone', '#1']] }), []);
  assert.deepEqual(await unsentOf(nameless, { ignore: ['#1'] }), []);
  const twice = fileOf('a.csv', `X,X,${columns.join(',')}\na,3005550101,${values.join(',')}\n`);
  assert.deepEqual((await unsentOf(twice))[0]?.slice(2), ['--map "phone=#2"', '--ignore "#2"']);
});

test('an option names a column in quotes that a shell leaves as they are', async () => {
  for (const [name, option] of [
    ['Línea $1', `--ignore 'Línea $1'`],
    ["Línea d'Ana", `--ignore "Línea d'Ana"`],
    ['Línea "A"', '--ignore "#10"'],
    ["Línea $1 d'Ana", '--ignore "#10"'],
    ['Línea\n1', '--ignore "#10"'],
  ] as const)
    assert.deepEqual((await unsentOf(phoneless({ [name]: '3005550101' })))[0]?.at(-1), option);
});

test('--ignore names a column that is there', async () => {
  await assert.rejects(
    sourceOf(csv({}), { ignore: ['Celular'] }),
    /a\.csv: --ignore names a column "Celular", and there is none/,
  );
  await assert.rejects(sourceOf(csv({}), { ignore: ['income'] }), /no column for income/);
});

test('the columns of a file of rejected rows are no fields', async () => {
  const row = { rejected_row: '1234567890', rejected_reason: 'sí' };
  assert.deepEqual(await unsentOf(csv(row)), []);
});
