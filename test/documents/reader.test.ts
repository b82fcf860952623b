/** The reader's process: what it reads, and what becomes of documents that want it down. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { type Clock, machineClock } from '../../src/base/clock.ts';
import { isolation, isolationWarning } from '../../src/documents/reader/isolation.ts';
import {
  isReading,
  PDF_LIMITS,
  PICTURE_LIMITS,
  processReader,
  type ReaderLimits,
} from '../../src/documents/reader/reader.ts';
import { findStatement } from '../../src/documents/rules/statement.ts';
import { loadLayouts } from '../../src/documents/uses/load-layouts.ts';
import { type Statement, statementRows } from '../../src/simulator/statement-rows.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import { encryptedPdf, packedPdf, pdfOf, pdfOfObjects, png, type Raster, scannedPdf } from './files.ts';
import { patientReader } from './support.ts';

const read = patientReader();
const layouts = await loadLayouts(null);
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-reader-'));
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
      const result = await processReader(machineClock)(bytes, 'application/pdf');
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
    const result = await processReader(machineClock)(bomb, 'application/pdf');
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

/** A child outside of the reader's folder has to be let in. */
async function runs(
  code: string,
  limits: ReaderLimits = { ...PDF_LIMITS, timeMs: PATIENCE_MS },
  clock: Clock = machineClock,
) {
  const child = childOf(code);
  const { nodeOptions } = await isolation();
  const allowed = [...nodeOptions, `--allow-fs-read=${child}`];
  return processReader(clock, limits, child, allowed)(PDF, 'application/pdf');
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
    const code = `${tell(`(await import('node:fs')).readFileSync('${score}', 'utf8').trim()`)}`;
    const child = childOf(code);
    const { nodeOptions } = await isolation();
    const allowed = [...nodeOptions, `--allow-fs-read=${child}`, '--allow-fs-read=/proc/*'];
    const limits = { ...PDF_LIMITS, timeMs: PATIENCE_MS };
    const result = await processReader(machineClock, limits, child, allowed)(PDF, 'application/pdf');
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
  it('a machine that gives no empty network is told to the operator', async () => {
    assert.match(isolationWarning({ before: [], nodeOptions: [] }) ?? '', /has the network of the service/);
    assert.equal(isolationWarning({ before: ['unshare'], nodeOptions: [] }), null);
  });
  it('it has no network', async (context) => {
    if ((await isolation()).before.length === 0) return context.skip('this machine gives no empty network');
    const server = createServer().listen(0, '127.0.0.1');
    context.after(() => server.close());
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as AddressInfo;
    const code = `
      const { connect } = await import('node:net');
      const result = await new Promise((done) => {
        const socket = connect(${port}, '127.0.0.1', () => done('connected'));
        socket.on('error', (error) => done(error.code));
      });
      ${tell('result')} setTimeout(() => process.exit(0), 100);`;
    const result = await runs(code);
    assert.ok('lines' in result && result.lines[0] !== 'connected', JSON.stringify(result));
  });
});

describe('a machine on which the reader does not run', () => {
  it('is told from one on which it does', async () => {
    assert.equal(await isReading(read), true);
    assert.equal(await isReading(processReader(machineClock, PDF_LIMITS, childOf('process.exit(3)'))), false);
  });
  it('is none where an installer links the packages to another folder', async () => {
    const place = join(folder, 'linked');
    for (const part of ['documents/reader', 'base/clock.ts']) {
      cpSync(join(import.meta.dirname, '../../src', part), join(place, 'src', part), { recursive: true });
    }
    const modules = join(import.meta.dirname, '../../node_modules');
    mkdirSync(join(place, 'node_modules'));
    for (const name of ['typebox', 'unpdf', 'tesseract.js-core', '@tesseract.js-data']) {
      symlinkSync(join(modules, name), join(place, 'node_modules', name));
    }
    const linked = await import(join(place, 'src/documents/reader/reader.ts'));
    assert.equal(
      await isReading(linked.processReader(machineClock, { ...PDF_LIMITS, timeMs: PATIENCE_MS })),
      true,
    );
  });
});

it('thirty documents at once are read one after the other, and all of them', async () => {
  const results = await Promise.all(Array.from({ length: 30 }, () => read(PDF, 'application/pdf')));
  assert.equal(results.filter((result) => 'lines' in result).length, 30);
});
