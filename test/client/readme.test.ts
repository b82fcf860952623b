/** The examples of client/README.md: each compiles against the sources, strictly but for untyped parameters. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { REPOSITORY } from '../support/sources.ts';
import { CLIENT, run } from './packed.ts';

/** What the README's reader has: the client of its first example, and functions of the reader's own. */
const READER = `import type { Application, PushedEvent, VentanillaClient } from 'ventanilla-client';
  declare global {
    const client: VentanillaClient;
    const applications: Application[];
    const process: { env: Record<string, string> };
    function loadCursor(): Promise<string | null>;
    function saveCursor(id: string): Promise<void>;
    function handle(event: PushedEvent): Promise<void>;
  }`;

it('every JavaScript example of the README compiles', { timeout: 120_000 }, async (test) => {
  const text = await readFile(join(CLIENT, 'README.md'), 'utf8');
  const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => String(code));
  assert.ok(examples.length >= 5, String(examples.length));
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-readme-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'reader.d.ts'), READER);
  for (const [index, code] of examples.entries()) {
    // An object alone is the application that the text shows.
    const type = "/** @type {import('ventanilla-client').Application} */\nexport const application = ";
    await writeFile(join(folder, `example-${index + 1}.mjs`), code.startsWith('{') ? type + code : code);
  }
  const compilerOptions = {
    ...{ noEmit: true, allowJs: true, checkJs: true, strict: true, noImplicitAny: false },
    ...{ target: 'es2023', module: 'nodenext', moduleDetection: 'force', lib: ['es2024', 'dom'], types: [] },
    ...{ allowImportingTsExtensions: true, paths: { 'ventanilla-client': [join(CLIENT, 'src/index.ts')] } },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  const compiler = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [compiler, '-p', folder]).then(
    () => '',
    ({ stdout }) => stdout,
  );
  assert.equal(said, '');
});
