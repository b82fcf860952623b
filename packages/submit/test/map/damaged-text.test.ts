/** A name that a program damaged is a fault of its row, and is never sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDamaged } from '../../src/map/source.ts';
import { CODE_PAGES, decodeCodePage } from '../../src/read/encoding/encoding.ts';
import { NAMES } from '../code-pages.ts';
import { allOf, applicant, csvOf, fileOf, sourceOf, xlsxOf } from '../files.ts';

test('names and cities as people write them are sound', () => {
  const sound = [
    ...NAMES,
    ...[
      'Bogotá D.C.',
      'Mª Ángeles',
      'Barrio N° 5',
      'IRMÃ Dulce',
      'Ana\u00a0María',
      'Łukasz Wałęsa',
      '王小明',
      'Анна',
    ],
    ...[
      'Müller & Söhne',
      'Sant Cugat del Vallès',
      'Gal·la',
      'Ana–María',
      '“Pepe” Ruiz',
      'José «Pepe» Díaz',
      'SÃO LUÍS',
    ],
    ...[
      'Jose\u0301',
      'L’Hospitalet',
      'Cartagena (Bolívar)',
      'Niño, José',
      'San José / Cúcuta',
      'Álvaro ´el Negro´',
      "'t Hooft",
      "O'Neil",
      "Ana 'la Mona'",
      'José "Pepe" Díaz',
      '"Pepe" Díaz',
    ],
  ];
  assert.deepEqual(sound.filter(isDamaged), []);
});

test('texts that programs damaged are recognised', () => {
  const damaged = [
    ...[
      'MuÃ±oz',
      'GarcÃ\u00ada',
      'BogotÃ¡',
      'ANGÃ‰LICA',
      'Ã‘andÃº',
      'Ana\u00c2\u00a0GÃ³mez',
      'Mu├▒oz',
      'Mu√±oz',
      'Mu┬ñoz',
    ],
    ...[
      'Mu\ufffdoz',
      'Mu?oz',
      'Bogot?',
      '?lvaro',
      'Mu¿oz',
      'Mu\x96oz',
      'JosÚ',
      'JosÈ',
      'GarcÝa',
      'Garc¡a',
      'Gonz‡lez',
    ],
    ...[
      'Jos‚',
      'Mu¤oz',
      'MuÒoz',
      'Mu±oz',
      'SÆo Paulo',
      'S„o Paulo',
      'Mu&ntilde;oz',
      'Mu&#241;oz',
      'Mu\\u00f1oz',
      "'Ana Gómez'",
      "'Ana Gómez",
      '"Ana Gómez"',
      " 'Ana",
    ],
  ];
  assert.deepEqual(
    damaged.filter((text) => !isDamaged(text)),
    [],
  );
});

test('UTF-8 that was read by a code page is recognised in every name', () => {
  for (const page of CODE_PAGES) {
    for (const name of NAMES) {
      const bytes = Buffer.from(name).toString('latin1');
      const high = [...bytes].filter((sign) => sign >= '\x80');
      if (high.length === 0 || page === 'ISO-8859-15' || /[àÀ]/.test(name)) continue;
      const text = decodeCodePage(bytes, page);
      assert.ok(isDamaged(text), `${page}: ${text}`);
    }
  }
});

test('rows with a damaged name or city have a fault, and the others are sent', async () => {
  const list = [
    applicant(),
    applicant({ name: 'Ana GÃ³mez' }),
    applicant({ city: 'Bogot?' }),
    applicant({ id_number: 'Ã©1' }),
    applicant({ name: 'Mu?oz', city: 'Medell?n' }),
  ];
  for (const path of [
    fileOf('a.csv', csvOf(list)),
    fileOf('a.json', JSON.stringify(list)),
    fileOf('a.xlsx', xlsxOf(list)),
  ]) {
    const source = await sourceOf(path);
    const rows = await allOf(source.convertedRows());
    assert.deepEqual(
      rows.map(({ faults }) => faults.map(({ field }) => field)),
      [[], ['name'], ['city'], [], ['name', 'city']],
    );
    const [fault] = rows[2]?.faults ?? [];
    assert.match(
      source.textOf(fault ?? assert.fail()),
      /^column "city": the text is damaged: .*wrong encoding/,
    );
  }
});

test('a text of a megabyte is judged at once', () => {
  const start = process.cpuUsage();
  for (const piece of [
    'a',
    'ñ',
    'Ã',
    '¡',
    '?',
    '&a',
    '&#1',
    '\\u00',
    "'",
    '"',
    ' ',
    'é¡',
    'x¤',
    'aÉ',
    '\xa0',
  ])
    isDamaged(`${piece.repeat(1e6 / piece.length)}x`);
  assert.ok(process.cpuUsage(start).user < 5_000_000);
});
