/** The reader's process: what it reads, and what becomes of documents that want it down. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { chooseReader } from '../../src/subjects/documents/reader/choose-reader.ts';
import { exposed, isolated, readerProgram } from '../../src/subjects/documents/reader/isolation.ts';
import {
  isFailing,
  PDF_LIMITS,
  PICTURE_LIMITS,
  pdfTextReader,
  processReader,
  type ReaderLimits,
} from '../../src/subjects/documents/reader/reader.ts';
import { findStatement } from '../../src/subjects/documents/rules/statement.ts';
import { loadLayouts } from '../../src/subjects/documents/uses/load-layouts.ts';
import { type Statement, statementRows } from '../../src/subjects/simulator/statement-rows.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import {
  encryptedPdf,
  exifOf,
  packedPdf,
  pdfOf,
  pdfOfObjects,
  png,
  pngOf,
  type Raster,
  scannedPdf,
  withExif,
} from './files.ts';
import { patientReader } from './support.ts';

const choose = () => chooseReader(machineClock, 'exposed');
const read = patientReader();
const layouts = await loadLayouts(null);
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-reader-'));
// The reader of root's service is another user.
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));

const STATEMENT: Statement = {
  layout: 'entrega-ya-mx-1',
  name: 'Luis Hernández Ruiz',
  idNumber: 'HERL900101HDFRZS09',
  issued: '2026-11-03',
  months: { '2026-08': 14_250, '2026-09': 13_980.5, '2026-10': 14_020 },
};
const pages = [statementRows(STATEMENT), [['Página 2']], [['Página 3']]];
const PDF = pdfOf(pages);

describe('a document is read', () => {
  it('a PDF of three pages, in under 3 seconds with the start of the process', async () => {
    await read(PDF, 'application/pdf');
    // A busy machine needs several to have one without a pause.
    const result = await eventually('a reading in time', async () => {
      const begun = performance.now();
      const result = await read(PDF, 'application/pdf');
      return performance.now() - begun < 3_000 && result;
    });
    assert.ok('lines' in result, JSON.stringify(result));
    assert.deepEqual([result.method, result.pages, result.confidence], ['text', 3, 1]);
    const found = findStatement(result.lines, layouts);
    assert.deepEqual(
      [found.layout, found.holderName, found.holderId],
      ['entrega-ya-mx-1', STATEMENT.name, STATEMENT.idNumber],
    );
    assert.deepEqual(
      found.months.map(({ amount }) => amount),
      [1_425_000, 1_398_050, 1_402_000],
    );
  });

  it('a picture of a statement, as a hint', {
    skip: !hasProgram('pdftoppm') && 'pdftoppm is missing',
  }, async () => {
    writeFileSync(join(folder, 'a.pdf'), PDF);
    execFileSync('pdftoppm', ['-r', '120', '-png', '-f', '1', '-l', '1', '-singlefile', 'a.pdf', 'a'], {
      cwd: folder,
    });
    const result = await read(readFileSync(join(folder, 'a.png')), 'image/png');
    assert.ok('lines' in result, JSON.stringify(result));
    assert.equal(result.method, 'ocr');
    const found = findStatement(result.lines, layouts);
    assert.deepEqual(
      found.months.map(({ month }) => month),
      ['2026-08', '2026-09', '2026-10'],
    );
  });
});

/** A page of the statement as `pdftoppm` draws it. */
function drawn(form: '-gray' | '-mono'): Raster {
  writeFileSync(join(folder, 'b.pdf'), PDF);
  execFileSync('pdftoppm', ['-r', '120', form, '-f', '1', '-l', '1', '-singlefile', 'b.pdf', 'b'], {
    cwd: folder,
  });
  const bytes = readFileSync(join(folder, form === '-gray' ? 'b.pgm' : 'b.pbm'));
  const [head = '', width, height] =
    /^P[45]\n(\d+) (\d+)\n(?:255\n)?/.exec(bytes.toString('latin1', 0, 50)) ?? [];
  const data = bytes.subarray(head.length);
  return { width: Number(width), height: Number(height), bits: form === '-gray' ? 8 : 1, data };
}

/** The picture as it lies on the glass: a quarter of a turn against the clock. */
function turned({ width, height, bits, data }: Raster): Raster {
  const out = Buffer.alloc(data.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) out[(width - 1 - x) * height + y] = data[y * width + x]!;
  }
  return { width: height, height: width, bits, data: out };
}

describe('a PDF whose pages are pictures is read by OCR, as a hint', {
  skip: !hasProgram('pdftoppm') && 'pdftoppm is missing',
}, () => {
  const monthsOf = async (bytes: Buffer) => {
    const result = await read(bytes, 'application/pdf');
    assert.ok('lines' in result, JSON.stringify(result));
    assert.equal(result.method, 'ocr');
    return findStatement(result.lines, layouts).months.map(({ month }) => month);
  };
  const MONTHS = ['2026-08', '2026-09', '2026-10'];
  it('of grey pictures, of all of its pages', async () => {
    const page = drawn('-gray');
    const result = await read(scannedPdf([page, page]), 'application/pdf');
    assert.ok('lines' in result);
    assert.equal(result.pages, 2);
    assert.equal(result.lines.filter((line) => line.includes(STATEMENT.name)).length, 2);
    assert.deepEqual(await monthsOf(scannedPdf([page])), MONTHS);
  });
  it('of black and white pictures', async () => {
    assert.deepEqual(await monthsOf(scannedPdf([drawn('-mono')])), MONTHS);
  });
  it('of pages that a viewer turns', async () => {
    assert.deepEqual(await monthsOf(scannedPdf([turned(drawn('-gray'))], 90)), MONTHS);
  });
});

describe('a photo is turned as its EXIF data says', {
  skip: !hasProgram('pdftoppm') && 'pdftoppm is missing',
}, () => {
  const monthsOf = async (bytes: Buffer, type: string) => {
    const result = await read(bytes, type);
    return 'lines' in result ? findStatement(result.lines, layouts).months.map(({ month }) => month) : result;
  };
  const MONTHS = ['2026-08', '2026-09', '2026-10'];
  /** Where the pixel of an upright page lies in the stored rows, by the orientation (Exif 2.32, 4.6.4). */
  const PLACES: Readonly<Record<number, (x: number, y: number, w: number, h: number) => [number, number]>> = {
    1: (x, y) => [x, y],
    2: (x, y, w) => [w - 1 - x, y],
    3: (x, y, w, h) => [w - 1 - x, h - 1 - y],
    4: (x, y, _w, h) => [x, h - 1 - y],
    5: (x, y) => [y, x],
    6: (x, y, w) => [y, w - 1 - x],
    7: (x, y, w, h) => [h - 1 - y, w - 1 - x],
    8: (x, y, _w, h) => [h - 1 - y, x],
  };
  for (const [orientation, placeOf] of Object.entries(PLACES)) {
    it(`a PNG of orientation ${orientation}`, async () => {
      const { width, height, data } = drawn('-gray');
      const isTurned = Number(orientation) > 4;
      const [w, h] = isTurned ? [height, width] : [width, height];
      // Each row begins with the number of its filter: none.
      const rows = Buffer.alloc((w + 1) * h);
      for (let y = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1) {
          const [column, row] = placeOf(x, y, width, height);
          rows[row * (w + 1) + 1 + column] = data[y * width + x]!;
        }
      }
      const photo = withExif('png', exifOf(Number(orientation)), pngOf(w, h, rows));
      assert.deepEqual(await monthsOf(photo, 'image/png'), MONTHS);
    });
  }
  // The page is turned by so many degrees, and the orientation turns it back.
  for (const [orientation, rotate] of [
    [3, 180],
    [6, 270],
    [8, 90],
  ] as const) {
    it(`a JPEG of orientation ${orientation}`, async () => {
      writeFileSync(join(folder, 'c.pdf'), scannedPdf([drawn('-gray')], rotate));
      execFileSync('pdftoppm', ['-r', '120', '-jpeg', '-singlefile', 'c.pdf', 'c'], { cwd: folder });
      const photo = withExif(
        'jpeg',
        exifOf(orientation, { order: 'II' }),
        readFileSync(join(folder, 'c.jpg')),
      );
      assert.deepEqual(await monthsOf(photo, 'image/jpeg'), MONTHS);
    });
  }
});

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, name)));
}

const PAGE_TEXT = 'BT /F1 9 Tf (this is a text of more than twenty letters) Tj ET';
const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const page = (more: string) =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${more} /Resources << /XObject << /X 5 0 R >> >> >>`;
const onePage = (contents: string, object = 'null') =>
  pdfOfObjects(['<< /Type /Pages /Count 1 /Kids [3 0 R] >>', page('/Contents 4 0 R'), contents, object]);
const image = (side: number) =>
  `<< /Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Length 3 >>\nstream\nabc\nendstream`;
const HOSTILE: Readonly<Record<string, Buffer>> = {
  'pages in a circle': pdfOfObjects(['<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>']),
  'pages in a long circle': pdfOfObjects([
    '<< /Type /Pages /Count 5 /Kids [3 0 R] >>',
    '<< /Type /Pages /Count 5 /Kids [2 0 R] /Parent 2 0 R >>',
  ]),
  'a page 100,000 times': pdfOfObjects([
    `<< /Type /Pages /Count 100000 /Kids [${'3 0 R '.repeat(100_000)}] >>`,
    page('/Contents 4 0 R'),
    stream(PAGE_TEXT),
  ]),
  'a count of pages that lies': pdfOfObjects(['<< /Type /Pages /Count 2147483647 /Kids [] >>']),
  'pages 20,000 levels deep': pdfOfObjects(
    Array.from({ length: 20_000 }, (_, index) => `<< /Type /Pages /Count 1 /Kids [${index + 3} 0 R] >>`),
  ),
  'arrays two million deep': onePage('['.repeat(2_000_000)),
  'a form in itself': onePage(
    stream('/X Do'),
    '<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\nstream\n/X Do\nendstream',
  ),
  'a picture of 900 megapixels': onePage(stream('q 9 0 0 9 0 0 cm /X Do Q'), image(30_000)),
  'a hundred megapixels, a thousand times': onePage(stream(`q ${'/X Do '.repeat(1_000)} Q`), image(4_400)),
  'a table of two billion objects': pdfOfObjects(
    ['<< /Type /Pages /Count 0 /Kids [] >>'],
    '/Size 2147483647',
  ),
  'a thousand unpacked streams of 50 MB': pdfOfObjects([
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    page(`/Contents [${'4 0 R '.repeat(1_000)}]`),
    packedStream(50_000_000),
  ]),
};

function packedStream(unpacked: number): string {
  const packed = deflateSync(Buffer.alloc(unpacked, ' ')).toString('latin1');
  return `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed}\nendstream`;
}

describe('a document that wants the reader down gets a code', () => {
  for (const [what, bytes] of Object.entries(HOSTILE)) {
    it(what, async () => {
      const result = await processReader(machineClock, choose)(bytes, 'application/pdf');
      const isHint = 'lines' in result && result.confidence <= 0.5;
      assert.ok(isHint || 'fault' in result, JSON.stringify(result).slice(0, 200));
    });
  }
  it('of a document that is too long a part is read, and never counts by itself', async () => {
    const long = pdfOf(Array.from({ length: 51 }, () => statementRows(STATEMENT)));
    const result = await read(long, 'application/pdf');
    assert.ok('lines' in result);
    assert.deepEqual([result.pages, result.confidence], [51, 0.5]);
    const rows = Array.from({ length: 40 }, () => ['x'.repeat(80)]);
    const wide = await read(pdfOf(Array.from({ length: 40 }, () => rows)), 'application/pdf');
    assert.ok('lines' in wide);
    assert.deepEqual([wide.lines.join('').length, wide.confidence], [100_000, 0.5]);
  });
  it('an encrypted PDF', async () => {
    assert.deepEqual(await read(encryptedPdf(), 'application/pdf'), { fault: 'encrypted' });
  });
  it('a PDF bomb, which unpacks to 700 megabytes', async () => {
    const bomb = packedPdf('BT /F1 9 Tf (x) Tj ET', 700_000_000);
    const result = await processReader(machineClock, choose)(bomb, 'application/pdf');
    assert.ok('fault' in result, JSON.stringify(result).slice(0, 200));
    assert.match(result.fault, /^(reader_memory|reader_time|reader_failed|damaged|no_text)$/);
  });
  it('a damaged PDF, and one of pictures alone', async () => {
    assert.deepEqual(await read(Buffer.from('%PDF-1.7\nnothing'), 'application/pdf'), { fault: 'damaged' });
    assert.deepEqual(await read(pdfOf([[]]), 'application/pdf'), { fault: 'no_text' });
  });
  it('a picture of nothing, one that is none, and a kind that nobody reads', async () => {
    assert.deepEqual(await read(png(200, 100), 'image/png'), { fault: 'no_text' });
    const noPicture = await read(Buffer.from('not a picture'), 'image/png');
    assert.ok('fault' in noPicture);
    assert.deepEqual(await read(Buffer.from('x'), 'image/heic'), { fault: 'no_text' });
  });
});

/** A process in the place of the reader's. */
function childOf(code: string): string {
  const path = join(folder, `child-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(path, code);
  return path;
}

/** Shut in where this machine can do that: what is asserted holds for both. */
async function commandOf(code: string, more: readonly string[] = []) {
  const program = readerProgram(childOf(code), more);
  return (await choose())?.isIsolated ? isolated(program) : exposed(program);
}

async function runs(
  code: string,
  limits: ReaderLimits = { ...PDF_LIMITS, timeMs: PATIENCE_MS },
  clock: Clock = machineClock,
) {
  const command = await commandOf(code);
  return processReader(clock, async () => command, limits)(PDF, 'application/pdf');
}

describe("the reader's process is shut in", () => {
  const tell = (value: string) =>
    `process.stdout.write(JSON.stringify({ method: 'text', pages: 1, confidence: 1, lines: [String(${value})] }));`;
  const told = async (value: string) => {
    const result = await runs(tell(value));
    return 'lines' in result ? result.lines[0] : JSON.stringify(result);
  };

  it('an endless loop ends by its time', async () => {
    assert.deepEqual(await runs('for (;;);', { ...PDF_LIMITS, timeMs: 1_000 }), { fault: 'reader_time' });
  });
  it('a wait without an end ends by its time', async () => {
    const clock = new TestClock();
    let result: unknown = null;
    const reading = runs('setInterval(() => {}, 1000);', PDF_LIMITS, clock).then((told) => {
      result = told;
    });
    await clock.untilTimer(PDF_LIMITS.timeMs);
    await clock.advance(PDF_LIMITS.timeMs - 1);
    assert.deepEqual([result, clock.timers], [null, 1]);
    await clock.advance(1);
    await reading;
    assert.deepEqual(result, { fault: 'reader_time' });
  });
  it('the heap, and buffers outside of the heap, are bounded', async () => {
    assert.deepEqual(await runs('const a = []; for (;;) a.push(new Array(1e5).fill(0));'), {
      fault: 'reader_memory',
    });
    const buffers = await runs('const a = []; for (;;) a.push(Buffer.alloc(5e7, 1));', {
      ...PICTURE_LIMITS,
      timeMs: PATIENCE_MS,
    });
    assert.ok('fault' in buffers && /^reader_(memory|failed)$/.test(buffers.fault), JSON.stringify(buffers));
  });
  it('a crash, an answer that is none, one that never ends, and no answer are told by a code', async () => {
    for (const code of [
      'process.exit(3)',
      'throw new Error("x")',
      'process.stdout.write("hello")',
      'process.stdout.write(JSON.stringify({ method: "magic", pages: 1, confidence: 1, lines: [] }))',
      'process.stdout.write(JSON.stringify({ method: "text", pages: 1, confidence: 7, lines: [] }))',
      // A reason of an operator beside the lines would accept the document.
      'process.stdout.write(JSON.stringify({ method: "text", pages: 1, confidence: 1, lines: [], fault: "accepted_by_operator" }))',
      'process.stdout.write(JSON.stringify({ fault: "no_text", reason: "read" }))',
      'process.stdout.write(`{"method":"text","pages":1,"confidence":1,"lines":[],"__proto__":{"fault":"read"}}`)',
      'process.stdout.write(`{"method":"text","pages":1e300,"confidence":1,"lines":[]}`)',
      '',
    ]) {
      assert.deepEqual(await runs(code), { fault: 'reader_failed' }, code);
    }
    const endless = await runs(
      'for (;;) require("fs").writeSync(1, "x".repeat(65536));'.replace(
        'require("fs")',
        '(await import("fs"))',
      ),
    );
    assert.deepEqual(endless, { fault: 'reader_failed' });
    const lines = 'Array.from({ length: 5000 }, () => "x".repeat(500))';
    const long = `process.stdout.write(JSON.stringify({ method: "text", pages: 1, confidence: 1, lines: ${lines} }))`;
    assert.deepEqual(await runs(long), { fault: 'reader_failed' });
  });
  it('it ends before the service where the machine has no more memory', {
    skip: process.platform !== 'linux' && 'Linux alone knows a score',
  }, async () => {
    const score = '/proc/self/oom_score_adj';
    const code = tell(`(await import('node:fs')).readFileSync('${score}', 'utf8').trim()`);
    const command = exposed(readerProgram(childOf(code), ['/proc']));
    const limits = { ...PDF_LIMITS, timeMs: PATIENCE_MS };
    const result = await processReader(machineClock, async () => command, limits)(PDF, 'application/pdf');
    assert.ok('lines' in result, JSON.stringify(result));
    assert.deepEqual(result.lines, ['1000']);
  });
  it('it has no variables of the service', async (context) => {
    process.env.VENTANILLA_TEST_SECRET = 'secret';
    context.after(() => delete process.env.VENTANILLA_TEST_SECRET);
    assert.doesNotMatch((await told('JSON.stringify(process.env)')) ?? '', /SECRET|DATABASE|KEY/);
  });
  it('it reads no other file, writes none and starts nothing', async () => {
    writeFileSync(join(folder, 'secrets.json'), '{}');
    const tries = [
      `(await import('node:fs')).readFileSync(${JSON.stringify(join(folder, 'secrets.json'))})`,
      `(await import('node:fs')).writeFileSync(${JSON.stringify(join(folder, 'new'))}, 'x')`,
      `(await import('node:child_process')).execFileSync('/bin/true')`,
    ];
    for (const text of tries) {
      const code = `let result = 'done'; try { ${text}; } catch (error) { result = error.code; } ${tell('result')}`;
      const result = await runs(code);
      assert.deepEqual('lines' in result && result.lines, ['ERR_ACCESS_DENIED'], text);
    }
  });
  it('a machine that cannot shut it in reads nothing, unless the operator takes the risk', async () => {
    const off = await processReader(machineClock, async () => null)(PDF, 'application/pdf');
    assert.deepEqual(off, { fault: 'reader_off' });
    const readText = pdfTextReader(machineClock, async () => null);
    assert.deepEqual(await readText(PDF, 'application/pdf'), { fault: 'reader_off' });
  });
});

describe('a machine on which the reader does not run', () => {
  it('is told from one on which it does', async () => {
    assert.equal(await isFailing(read), false);
    const broken = await commandOf('process.exit(3)');
    assert.equal(await isFailing(processReader(machineClock, async () => broken)), true);
  });
  it('is none where the trial is late: it is busy, and a photo of that moment must not wait for an operator', async () => {
    const slow = await commandOf('setInterval(() => {}, 60_000)');
    const read = processReader(machineClock, async () => slow, { ...PDF_LIMITS, timeMs: 10 });
    assert.equal(await isFailing(read), false);
  });
  it('is none where an installer links the packages to another folder', async () => {
    const place = join(folder, 'linked');
    for (const part of ['subjects/documents/reader', 'ground/base/clock.ts']) {
      cpSync(join(import.meta.dirname, '../../src', part), join(place, 'src', part), { recursive: true });
    }
    const modules = join(import.meta.dirname, '../../node_modules');
    mkdirSync(join(place, 'node_modules'));
    for (const name of ['typebox', 'unpdf', 'tesseract.js-core', '@tesseract.js-data']) {
      symlinkSync(join(modules, name), join(place, 'node_modules', name));
    }
    const linked = await import(join(place, 'src/subjects/documents/reader/isolation.ts'));
    const command = (await choose())?.isIsolated
      ? linked.isolated(linked.readerProgram())
      : linked.exposed(linked.readerProgram());
    const limits = { ...PDF_LIMITS, timeMs: PATIENCE_MS };
    assert.equal(await isFailing(processReader(machineClock, async () => command, limits)), false);
  });
});

describe('readings take turns', () => {
  /** Waits for ever with a picture, and answers a PDF. */
  const WAITS_WITH_PICTURES = `
    if (process.argv[2] !== 'application/pdf') setInterval(() => {}, 1000);
    else process.stdout.write(JSON.stringify({ fault: 'damaged' }));`;
  const turn = (partnerId: number) => ({ partnerId: partnerId as PartnerId, isOver: false, took: () => {} });

  it('a PDF does not wait for pictures, and a picture waits for one of each other partner', async () => {
    const clock = new TestClock();
    const command = await commandOf(WAITS_WITH_PICTURES);
    const read = processReader(clock, async () => command, { ...PICTURE_LIMITS, timeMs: 60_000 });
    const ended: number[] = [];
    const readings = [1, 1, 1, 1, 1, 2].map((partner) =>
      read(Buffer.from('x'), 'image/png', turn(partner)).then(() => ended.push(partner)),
    );
    assert.deepEqual(await read(Buffer.from('x'), 'application/pdf', turn(2)), { fault: 'damaged' });
    assert.deepEqual(ended, []);
    for (const partners of [
      [1, 1],
      [1, 1, 1, 2],
      [1, 1, 1, 1, 1, 2],
    ]) {
      await eventually('two processes', async () => clock.timers === 2);
      await clock.advance(60_000);
      await eventually('their ends', async () => ended.length === partners.length);
      assert.deepEqual(ended.toSorted(), partners);
    }
    await Promise.all(readings);
  });

  it('a phone that has used up its time of the day waits for an operator, and no process is started', async () => {
    const took: number[] = [];
    const over = { partnerId: 1 as PartnerId, isOver: true, took: (ms: number) => took.push(ms) };
    assert.deepEqual(await processReader(machineClock, choose)(PDF, 'application/pdf', over), {
      fault: 'reading_limit',
    });
    assert.deepEqual(took, []);
    await processReader(machineClock, choose)(PDF, 'application/pdf', { ...over, isOver: false });
    assert.ok(took.length === 1 && took[0]! > 0);
  });
});

it('thirty documents at once are read one after the other, and all of them', async () => {
  const results = await Promise.all(Array.from({ length: 30 }, () => read(PDF, 'application/pdf')));
  assert.equal(results.filter((result) => 'lines' in result).length, 30);
});
