/** Debian's tools for PDFs: `pdfsig`, `pdftotext` and `pdfdetach` of poppler-utils, and `qpdf`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TOOLS = ['pdfsig', 'pdftotext', 'pdfdetach', 'qpdf', 'openssl'];

/** For `skip`: the tools that are not installed here, or false. */
export const missingPdfTools: string | false = (() => {
  const absent = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0);
  return absent.length > 0 && `apt-get install poppler-utils qpdf openssl: ${absent.join(', ')} is missing`;
})();

/** Runs `work` on a file with the bytes. */
function onFile<T>(pdf: Uint8Array, work: (path: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-pdf-'));
  try {
    const path = join(folder, 'file.pdf');
    writeFileSync(path, pdf);
    return work(path, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What `pdfsig` says. The certificates of the tests are trusted by nobody. */
export function pdfsig(pdf: Uint8Array): string {
  return onFile(pdf, (path) => spawnSync('pdfsig', [path], { encoding: 'utf8' }).stdout);
}

/** The fault that `qpdf --check` finds; null: none. */
export function qpdfFault(pdf: Uint8Array): string | null {
  return onFile(pdf, (path) => {
    const { status, stdout, stderr } = spawnSync('qpdf', ['--check', path], { encoding: 'utf8' });
    return status === 0 ? null : `${stdout}${stderr}`;
  });
}

/** The text of all pages, laid out as it looks. */
export function pdfText(pdf: Uint8Array): string {
  return onFile(pdf, (path) => execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' }));
}

/** An attached file, by its name. */
export function attached(pdf: Uint8Array, name: string): Buffer {
  return onFile(pdf, (path, folder) => {
    execFileSync('pdfdetach', ['-saveall', '-o', folder, path]);
    return readFileSync(join(folder, name));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
type PdfValue = any;

/** The catalog, and the value of a reference (any other value is itself), as `qpdf --json` writes them. */
export function objectsOf(pdf: Uint8Array): { catalog: PdfValue; value: (of: PdfValue) => PdfValue } {
  const text = onFile(pdf, (path) =>
    execFileSync('qpdf', ['--json', '--json-key=qpdf', path], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }),
  );
  const [, objects] = JSON.parse(text).qpdf;
  const value = (of: PdfValue): PdfValue =>
    typeof of === 'string' && /^\d+ \d+ R$/.test(of) ? objects[`obj:${of}`].value : of;
  return { catalog: value(objects.trailer.value['/Root']), value };
}
