/** `ventanilla submit` speaks Spanish and English. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApplication } from '../../../../test/support/service.ts';
import { type Applicant, csvOf, fileOf, workbookOf } from '../files.ts';
import { type Person, submit } from './submit-harness.ts';

const rows = (...changes: Record<string, unknown>[]) =>
  csvOf(changes.map((one) => ({ ...anApplication(), ...one }) as Applicant));
const file = (...changes: Record<string, unknown>[]) => fileOf('a.csv', rows(...changes));
const es: Person = { env: { LANG: 'es_CO.UTF-8' } };

test('the language is that of --lang, else of LC_ALL, LC_MESSAGES or LANG, else of the system, else English', async () => {
  const path = file({});
  const said: [language: 'es' | 'en', person: Person, ...args: string[]][] = [
    ['es', { env: { LANG: 'es_CO.UTF-8' } }],
    ['es', { env: { LANG: 'en_US.UTF-8', LC_ALL: 'es' } }],
    ['en', { env: { LANG: 'es_CO.UTF-8', LC_ALL: 'C' } }],
    ['es', { env: { LANG: 'en_US.UTF-8', LC_MESSAGES: 'ES_mx' } }],
    ['es', { env: { LANG: '' }, locale: 'es-419' }],
    ['en', { env: { LANG: 'pt_BR.UTF-8' } }],
    ['en', { env: { LANG: 'est_EE' } }],
    ['en', { locale: 'de-DE' }],
    ['en', { env: { LANG: 'es_CO.UTF-8' } }, '--lang', 'en'],
    ['es', {}, '--lang', 'ES'],
  ];
  for (const [language, person, ...args] of said) {
    const { out } = await submit(person, path, '--dry-run', ...args);
    assert.match(out, language === 'es' ? /CAMPO +COLUMNA/ : /FIELD +COLUMN/, JSON.stringify(person));
  }
  assert.match((await submit(es, path, '--dry-run', '--lang', 'fr')).err, /--lang debe ser uno de: en, es/);
});

test('the help is in the language, with every option', async () => {
  for (const [person, args] of [
    [es, ['--help']],
    [{}, ['--help', '--lang', 'es']],
    [{}, ['--lang', 'es', '--help']],
  ] as const) {
    const { code, out } = await submit(person, ...args);
    assert.equal(code, 0);
    assert.match(out, /^Uso: ventanilla submit \[opciones\] <archivo>/);
    assert.match(out, /\nOpciones:\n/);
    assert.match(out, /Códigos de salida: 0 todas registradas/);
    assert.doesNotMatch(out.replaceAll(SAME, ''), ENGLISH);
  }
  const english = (await submit({}, '--help')).out;
  const options = (text: string) => text.match(/^ {2}(?:-h, )?--[a-z-]+/gm);
  assert.deepEqual(options((await submit(es, '--help')).out), options(english));
  assert.match(english, /^Usage: ventanilla submit \[options\] <file>/);
});

/** Words of English sentences. Names of fields, of options and of codes are the same in both languages. */
const ENGLISH = /\b(the|is|are|of|not|with|without|and|has|have|must|choose|row|rows|column|columns)\b/i;
/** Parts that are the same in both languages. */
const SAME =
  /<[^>]*>|--[a-z-]+(?: "[^"]*")?|"[^"]*"|[\w./-]*\.(?:csv|xlsx|json|lock|ventanilla-journal)[\w.]*|https?:\S+/g;

test('everything that a person can mend is told in Spanish', async () => {
  const xlsx = workbookOf([[{ value: '5', style: 4 }]]);
  const wrong: [args: string[], spanish: RegExp][] = [
    [[], /^error: falta el archivo de solicitantes \(agrega --help/],
    [['a.csv', 'b.csv'], /hay demasiados argumentos/],
    [['a.csv', '--nonsense'], /opción desconocida '--nonsense'/],
    [['a.csv', '--header-row', 'x'], /el valor 'x' de la opción .* no es válido\. Debe ser un número entero/],
    [['a.csv', '--map'], /falta el valor de la opción/],
    [['a.csv'], /falta --url/],
    [['a.csv', '--url', 'x'], /--url debe ser una URL/],
    [['a.csv', '--url', 'https://host.invalid/PRO'], /VENTANILLA_API_KEY no está definida/],
    [['nowhere.csv', '--dry-run'], /nowhere\.csv: no existe ese archivo/],
    [['a.csv', '--dry-run', '--results', 'x'], /con --dry-run no hay/],
    [['a.csv', '--dry-run', '--country', 'XX'], /--country debe tener las dos letras/],
    [['a.csv', '--dry-run', '--decimal', 'x'], /--decimal debe ser uno de/],
    [['a.csv', '--dry-run', '--consent-values', 'x'], /--consent-values debe tener/],
    [['a.csv', '--dry-run', '--map', 'x=y'], /no existe ese campo/],
    [['a.csv', '--dry-run', '--map', 'debt_age:x=y'], /el valor después de = debe ser uno de/],
    [[file({ income: '1.500' }), '--dry-run', '--header-row', '9'], /fila 9: --header-row indica esta fila/],
    [[file({ phone: '3005550101' }), '--dry-run'], /fila 2, columna "phone": un teléfono sin código de país/],
    [[fileOf('a.csv', 'x,y\n1,2\n'), '--dry-run'], /columnas con un nombre conocido: 0 de 2/],
    [[fileOf('a.csv', ''), '--dry-run'], /está vacío/],
    [[fileOf('a.xlsx', xlsx), '--dry-run'], /tienen formatos que el archivo no describe/],
    [[fileOf('a.xlsx', xlsx.subarray(0, 99)), '--dry-run'], /está dañado o incompleto/],
    [[fileOf('a.json', '[1'), '--dry-run'], /termina a la mitad/],
    [
      [file({ 'Llamar a': '3005550101' }), '--dry-run'],
      /hay columnas que parecen campos y no se envían: "Llamar a"/,
    ],
  ];
  for (const [args, spanish] of wrong) {
    const { code, err } = await submit(es, ...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(err, spanish);
    assert.doesNotMatch(err.replaceAll(SAME, ''), ENGLISH, err);
  }
});

test('a dry run speaks Spanish of faults, words, amounts and phones', async () => {
  const path = file(
    { income: '1.500', debt_age: 'Más de 2 años' },
    { income: '$ 3.200.000', phone: '3005550101' },
    { name: '#N/A', id_number: '1,02E+09', city: '' },
    { name: 'MuÃ±oz', messaging_optin: 'sí' },
  );
  const { code, out } = await submit(es, path, '--dry-run', '--country', 'CO');
  assert.equal(code, 2);
  for (const text of [
    'las columnas están separadas por coma',
    'Teléfonos: ',
    'Colombia (CO)',
    '4 filas en total. Se pueden enviar: 1. No se pueden enviar: 3.',
    'ERROR',
    'PRIMERA FILA',
    'columna "income": el monto es ambiguo',
    'debt_age es requerido y debe ser uno de: lt6, 6a12, 1a2, gt2',
    'ciudad es requerido',
    'el texto está dañado',
    'Palabras sin un valor conocido:',
    '--consent-values "sí/no"',
    'tiene 3 filas sin aceptar, con los motivos',
  ])
    assert.ok(out.includes(text), `${text}: ${out}`);
  assert.doesNotMatch(out.replaceAll(SAME, '').replace('lt6', ''), ENGLISH);
});
