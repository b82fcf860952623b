/**
 * The examples of client/README.md and docs/events.md compile against the sources, strictly but for untyped parameters.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { PATIENCE_MS } from '../support/eventually.ts';
import { REPOSITORY } from '../support/sources.ts';
import { CLIENT, run } from './packed.ts';

const PATHS = {
  'ventanilla-client': [join(CLIENT, 'src/index.ts')],
  standardwebhooks: [join(REPOSITORY, 'node_modules/standardwebhooks/dist/index.d.ts')],
};

/** What the reader has: the client of its first example, and functions of the reader's own. */
const READER = `import type { Application, PushedEvent, VentanillaClient } from 'ventanilla-client';
  declare global {
    const client: VentanillaClient;
    const applications: Application[];
    const process: { env: Record<string, string> };
    const request: Request;
    const secret: string;
    const body: string;
    const headers: Record<string, string>;
    function loadCursor(): Promise<string | null>;
    function saveCursor(id: string): Promise<void>;
    function handle(event: PushedEvent): Promise<void>;
  }`;

/** The code blocks of a document. */
async function examplesOf(path: string): Promise<string[]> {
  const text = await readFile(join(REPOSITORY, path), 'utf8');
  return [...text.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, code]) => String(code));
}

it('every example in JavaScript and TypeScript compiles', { timeout: PATIENCE_MS }, async (test) => {
  const documents = await Promise.all(['client/README.md', 'docs/events.md'].map(examplesOf));
  assert.ok(documents.every(({ length }) => length >= 2));
  const examples = documents.flat();
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-readme-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'reader.d.ts'), READER);
  for (const [index, code] of examples.entries()) {
    // An object alone is the application that the text shows.
    const type = "/** @type {import('ventanilla-client').Application} */\nexport const application = ";
    await writeFile(join(folder, `example-${index + 1}.mjs`), code.startsWith('{') ? type + code : code);
  }
  const compilerOptions = {
    ...{ noEmit: true, allowJs: true, checkJs: true, strict: true, noImplicitAny: false, skipLibCheck: true },
    ...{ target: 'es2023', module: 'nodenext', moduleDetection: 'force', lib: ['es2024', 'dom'], types: [] },
    ...{ allowImportingTsExtensions: true, paths: PATHS },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  const compiler = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [compiler, '-p', folder]).then(
    () => '',
    ({ stdout }) => stdout,
  );
  assert.equal(said, '');
});
