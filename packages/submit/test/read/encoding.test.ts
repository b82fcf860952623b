/** A text file's encoding is found from its names, asked for, or refused: a wrong one never changes a name silently. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leftoverFault } from '../../src/map/changed-values.ts';
import { CODE_PAGES, type CodePage } from '../../src/read/encoding/encoding.ts';
import { DoubtfulEncoding } from '../../src/read/encoding/encoding-survey.ts';
import { highHalf, inCodePage, NAMES } from '../code-pages.ts';
import { applicant, applicationsOf, csvOf, fileOf, sourceOf } from '../files.ts';

function csvIn(page: CodePage, names: readonly string[], newline = '\n'): Buffer | null {
  const people = names.map((name) => applicant({ name, city: 'Cali' }));
  return inCodePage(csvOf(people, ',', newline), page);
}

/** The names that are read; `doubtful` where the file is refused for its encoding. */
async function readNames(bytes: Buffer): Promise<readonly unknown[] | 'doubtful'> {
  try {
    return (await applicationsOf(fileOf('a.csv', bytes))).map(({ name }) => name);
  } catch (error) {
    assert.ok(error instanceof DoubtfulEncoding, String(error));
    return 'doubtful';
  }
}

test('the code pages have the characters of their standards', () => {
  const bytes = Uint8Array.from({ length: 128 }, (_, index) => 0x80 + index);
  assert.equal(highHalf('MacRoman'), new TextDecoder('macintosh').decode(bytes));
  assert.equal(highHalf('ISO-8859-15'), new TextDecoder('iso-8859-15').decode(bytes));
  for (const page of CODE_PAGES) assert.equal(new Set(highHalf(page)).size, 128, page);
  // The letters of Spanish and Portuguese in code page 850 (IBM), and those that code page 437 has at the same bytes.
  const letters = 'áéíóúñü ÁÉÍÓÚÑÜ ãõâêôàç ÃÕÂÊÔÀÇ ªº¿¡';
  const hex = 'a082a1a2a3a481 b590d6e0e9a59a c6e483889385 87 c7e5b6d2e2b7 80 a6a7a8ad'.replaceAll(' ', '');
  assert.equal(inCodePage(letters.replaceAll(' ', ''), 'cp850')?.toString('hex'), hex);
  assert.equal(
    inCodePage('áéíóúñüÉÑÜâêôàçÇªº¿¡', 'cp437')?.toString('hex'),
    'a082a1a2a3a48190a59a838893858780a6a7a8ad',
  );
  assert.equal(inCodePage('Σß≥°²', 'cp437')?.toString('hex'), 'e4e1f2f8fd');
  // Code page 860 (IBM), of Portugal; cp858 is cp850 with a euro sign.
  assert.equal(
    inCodePage('ãõâêôàçÃÕÂÊÔÀÁÍÓÚÉáéíóúñÑªº', 'cp860')?.toString('hex'),
    '849483889385878e998f898c91868b9f9690a082a1a2a3a4a5a6a7',
  );
  const [cp850, cp858] = [highHalf('cp850'), highHalf('cp858')];
  assert.deepEqual([cp850.replace('ı', '€'), cp850.indexOf('ı')], [cp858, 0xd5 - 0x80]);
});

for (const page of CODE_PAGES) {
  test(`one name with an accent in ${page} is read right, or its encoding is doubtful`, async () => {
    for (const name of NAMES) {
      const bytes = csvIn(page, [name]);
      if (bytes === null) continue;
      const read = await readNames(bytes);
      if (read !== 'doubtful') assert.deepEqual(read, [name]);
    }
  });

  test(`a list of names in ${page} is read right`, async () => {
    const possible = NAMES.filter((name) => inCodePage(name, page) !== null);
    const lists = fc.uniqueArray(fc.constantFrom(...possible), { minLength: 16, maxLength: 40 });
    // Code pages of DOS have most letters in common: a list with one rare letter may be doubtful.
    let doubtful = 0;
    const property = fc.asyncProperty(lists, async (names) => {
      const read = await readNames(csvIn(page, names) ?? assert.fail());
      if (read === 'doubtful' && page.startsWith('cp')) doubtful += 1;
      else assert.deepEqual(read, names);
    });
    await fc.assert(property, { numRuns: 60 });
    assert.ok(doubtful < 35, `${doubtful} lists of 60 are doubtful`);
  });
}

test('a DOS or Mac code page is never guessed from one to four names without a known one', async () => {
  for (const page of CODE_PAGES.slice(2)) {
    for (const names of [
      ['Zoë', 'Noël'],
      ['SCHRÖDER', 'Noël'],
      ['Quiñe', 'Tobón', 'Yépez', 'Farfán'],
      ['COQUÚVU'],
    ]) {
      const bytes = csvIn(page, names);
      if (bytes !== null) assert.equal(await readNames(bytes), 'doubtful', `${page} ${names}`);
    }
  }
  const known = ['José Quiñe'];
  assert.deepEqual(await readNames(csvIn('cp850', known) ?? assert.fail()), known);
  const today = ['Quiñe Tobón'];
  assert.deepEqual(await readNames(csvIn('Windows-1252', today) ?? assert.fail()), today);
});

test('made-up names in a code page are read right, or the encoding is doubtful', async () => {
  const syllable = fc.tuple(
    fc.constantFrom('b', 'c', 'd', 'f', 'g', 'l', 'm', 'n', 'r', 's', 't', 'v', 'br', 'qu'),
    fc.constantFrom(...'aeiouáéíóúñ'),
  );
  // Some are words for no value, such as "none", and no names.
  const name = fc
    .array(syllable, { minLength: 2, maxLength: 4 })
    .map((list) => list.flat().join(''))
    .filter((word) => leftoverFault(word, false) === null);
  const typed = fc
    .tuple(name, fc.boolean())
    .map(([word, isLoud]) =>
      isLoud ? word.toUpperCase() : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    );
  const lists = fc.array(typed, { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(lists, fc.constantFrom(...CODE_PAGES), async (names, page) => {
    const bytes = csvIn(page, names);
    const read = bytes === null ? 'doubtful' : await readNames(bytes);
    if (read !== 'doubtful') assert.deepEqual(read, names);
  });
  // Rare ones of a hundred thousand: read by Windows-1252, they were names with dashes, quotation marks and small
  // letters.
  const examples: [names: string[], page: CodePage][] = [
    [['Bínñ'], 'MacRoman'],
    [['Bruquñ', 'Badñ'], 'MacRoman'],
    [['Fuví', 'Sinñ'], 'MacRoman'],
    [['SAQUÚ'], 'cp860'],
    [['QUÚBROQUÚ', 'Máfufibu'], 'cp858'],
    [['VOQUÚ', 'RAGAQUÚ'], 'cp858'],
  ];
  await fc.assert(property, { numRuns: 300, examples });
});

test('an apostrophe of Windows in a name is read where other names tell the code page', async () => {
  for (const names of [
    ['O’Brien', 'Ana Gómez'],
    ['Dell’Acqua', 'Zoé Tobón', 'Iván Yépez'],
    ['D’Arcy Ñáñez', 'Peñaloza', 'Luz O’Neil'],
  ])
    assert.deepEqual(await readNames(csvIn('Windows-1252', names) ?? assert.fail()), names);
});

test('a guessed encoding is noted, a chosen one is taken', async () => {
  const path = fileOf('a.csv', csvIn('cp850', ['Ana Gómez', 'Íñigo Muñoz']) ?? assert.fail());
  const guessed = await sourceOf(path);
  assert.equal(guessed.file.encoding, 'cp850');
  assert.match(guessed.notes.join(), /its names tell that it is cp850; --encoding chooses another encoding/);
  const chosen = await sourceOf(path, { encoding: 'cp437' });
  assert.equal(chosen.file.encoding, 'cp437');
  assert.doesNotMatch(chosen.notes.join(), /names tell/);
  assert.notDeepEqual(guessed.settings, chosen.settings);
});

test('a doubtful encoding is refused with its line and the choices, without a name', async () => {
  const path = fileOf('a.csv', csvIn('Windows-1252', ['Ana', 'SCHRÖDER', 'Luz']) ?? assert.fail());
  await assert.rejects(sourceOf(path), (error: Error) => {
    assert.ok(error instanceof DoubtfulEncoding);
    assert.match(error.message, /^a\.csv, line 3: .* doubtful: .*cp850, Windows-1252.*--encoding/);
    assert.doesNotMatch(error.message, /SCHR/);
    assert.deepEqual(error.readings.map(({ page, words }) => `${page} ${words}`).slice(0, 2), [
      'cp850 SCHRÍDER',
      'Windows-1252 SCHRÖDER',
    ]);
    return true;
  });
  assert.equal((await applicationsOf(path, { encoding: 'Windows-1252' }))[1]?.name, 'SCHRÖDER');
});

test('bytes that are UTF-8 by chance are a code page, and other alphabets in UTF-8 are UTF-8', async () => {
  for (const [page, name] of [
    ['cp850', 'Íñigo'],
    ['cp850', 'ÍÑIGO'],
    ['Windows-1252', 'JOSÉ”'],
  ] as const) {
    const read = await readNames(csvIn(page, [name]) ?? assert.fail());
    if (read !== 'doubtful') assert.deepEqual(read, [name]);
  }
  for (const name of [
    'Анна Иванова',
    'Ελένη',
    'דוד',
    '王小明',
    'Jose\u0301',
    'Ana ❤',
    'Łukasz',
    'Анна (Ana)',
  ]) {
    const path = fileOf('a.csv', csvOf([applicant({ name, city: 'Cali' })]));
    assert.deepEqual(
      [(await sourceOf(path)).file.encoding, (await applicationsOf(path))[0]?.name],
      ['UTF-8', name],
    );
  }
});

test('a text of no known alphabet is doubtful', async () => {
  // `Анна Иванова` in Windows-1251 has letters in Windows-1252 too.
  const cyrillic = Buffer.from('c0edede020c8e2e0edeee2e0', 'hex').toString('latin1');
  const bytes = Buffer.from(csvOf([applicant({ name: cyrillic, city: cyrillic })]), 'latin1');
  assert.equal(await readNames(bytes), 'doubtful');
});

test('a file in two encodings is refused with the line, whichever comes first', async () => {
  const lines = ['Ana Gómez', 'Íñigo Muñoz', 'José Pérez', 'Luz Ávila'].map(
    (name) => csvOf([applicant({ name, city: 'Bogotá' })]).split('\n')[1] ?? '',
  );
  const header = csvOf([applicant()]).split('\n')[0];
  const write = (encodings: readonly (CodePage | 'UTF-8')[], newline: string) =>
    Buffer.concat(
      [header, ...lines].map((line, index) => {
        const encoding = encodings[index - 1] ?? 'UTF-8';
        const text = `${line}${newline}`;
        return encoding === 'UTF-8' ? Buffer.from(text) : (inCodePage(text, encoding) ?? assert.fail());
      }),
    );
  const [latin, dos, mac, utf8] = ['Windows-1252', 'cp850', 'MacRoman', 'UTF-8'] as const;
  for (const [encodings, line] of [
    [[utf8, utf8, latin, latin], 4],
    [[latin, latin, latin, utf8], 5],
    [[latin, utf8, utf8, utf8], 3],
    [[mac, mac, mac, utf8], 5],
    [[latin, latin, dos, latin], 4],
    [[latin, latin, latin, mac], 5],
    [[dos, dos, dos, latin], 5],
  ] as const) {
    for (const newline of ['\n', '\r\n', '\r']) {
      const path = fileOf('a.csv', write(encodings, newline));
      await assert.rejects(
        sourceOf(path),
        new RegExp(`^Error: a\\.csv, line ${line}: .*--encoding`),
        encodings.join(),
      );
    }
  }
});

test('a chosen code page does not read what is surely UTF-8', async () => {
  const path = fileOf('a.csv', csvOf([applicant()]));
  await assert.rejects(sourceOf(path, { encoding: 'Windows-1252' }), /a\.csv: it is UTF-8, not Windows-1252/);
  const plain = fileOf('a.csv', csvOf([applicant({ name: 'Ana', city: 'Cali' })]));
  assert.equal((await applicationsOf(plain, { encoding: 'cp850' })).length, 1);
});

test('a mark of UTF-8 before other bytes is no part of the first name', async () => {
  const csv = csvIn('Windows-1252', ['Ana Gómez', 'Luz']) ?? assert.fail();
  const path = fileOf('a.csv', Buffer.concat([Buffer.from('\ufeff'), csv]));
  assert.equal((await applicationsOf(path, { encoding: 'Windows-1252' }))[0]?.name, 'Ana Gómez');
});

test('words across two pieces of a file count whole', async () => {
  for (const length of [32_755, 32_756, 32_757, 32_758, 32_759, 32_760, 32_761, 32_762]) {
    const csv = csvIn('MacRoman', ['x'.repeat(length - 109), 'Ana Gómez']) ?? assert.fail();
    assert.equal((await sourceOf(fileOf('a.csv', csv))).file.encoding, 'MacRoman');
  }
});

test('a long file of strange bytes is judged in time and memory', async () => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, 'abc,');
  for (let index = 100; index < bytes.length; index += 3) bytes[index] = 0x80 + ((index * 7919) % 127);
  const start = process.cpuUsage();
  await assert.rejects(sourceOf(fileOf('a.csv', bytes)), /a\.csv, line 1: /);
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 20_000_000, `${user + system} µs`);
});
