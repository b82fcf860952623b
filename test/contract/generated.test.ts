/** Programs that make clients from an OpenAPI document make good ones of the documents of the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { FIELDS, namedFields } from '../../src/domain/application/fields.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { PUSH_WEBHOOKS } from '../../src/subjects/events/push/openapi.ts';
import { openApi } from '../../src/wire/contract/openapi.ts';
import { documentedForm } from '../support/openapi.ts';
import { missing, toolFile } from '../support/tools.ts';

const run = promisify(execFile);
const fields = namedFields('messaging');
const GOOD = Object.fromEntries(FIELDS.map(({ name, example }) => [name, example]));
/** Longer messages of a compiler are no help to a reader. */
const READABLE = 1000;

const GENERATORS = [
  {
    tool: 'openapi-typescript',
    options: (document: string, folder: string) => [document, '-o', join(folder, 'index.ts')],
    imports: "import type { components } from './index.ts'; type Schemas = components['schemas'];",
  },
  {
    tool: '@hey-api/openapi-ts',
    options: (document: string, folder: string) => [
      '-i',
      document,
      '-o',
      folder,
      '-p',
      '@hey-api/typescript',
    ],
    imports:
      "import type { Application, BatchAnswerPro, EventPage, Phone } from './index.ts'; type Schemas = { Application: Application; BatchAnswerPro: BatchAnswerPro; EventPage: EventPage; Phone: Phone };",
  },
] as const;

describe('clients made from the OpenAPI documents', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'ventanilla-generated-'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  for (const { tool, options, imports } of GENERATORS) {
    const skip = missing(tool, 'typescript 5');
    it(`${tool} makes plain types, and an incomplete application gets a readable error`, {
      skip,
    }, async () => {
      const folders: { folder: string; idNumber: string | undefined }[] = [];
      for (const language of LANGUAGES) {
        const folder = join(root, `${tool.replace('/', '-')}-${language}`);
        const document = join(root, `${language}.json`);
        await writeFile(
          document,
          JSON.stringify(openApi({ basePath: '', fields, language, webhooks: PUSH_WEBHOOKS })),
        );
        await run(process.execPath, [toolFile(tool), ...options(document, folder)], { cwd: root });
        const good = documentedForm(GOOD, fields, language) as object;
        const [name, idNumber] = Object.keys(good);
        const results = language === 'en' ? 'results' : 'resultados';
        await writeFile(
          join(folder, 'good.ts'),
          `${imports}
          export const application: Schemas['Application'] = ${JSON.stringify(good)};
          export const phone: string extends Schemas['Phone'] ? Schemas['Phone'] : never = '';
          export const scores = (answer: Schemas['BatchAnswerPro']) =>
            answer.${results}.map(({ score, decision }) => [score * 1, decision.length]);
          export const failed = (page: Schemas['EventPage']) =>
            page.events.flatMap((event) => (event.type === 'message.failed' ? [event.data.message] : []));
          export const moved = (page: Schemas['EventPage']) =>
            page.events.flatMap((event) =>
              event.type === 'application.status_changed' ? [event.data.to.length, event.data.id * 1] : []);`,
        );
        const incomplete = { [name as string]: 'Ana' };
        await writeFile(
          join(folder, 'incomplete.ts'),
          `${imports}
          export const application: Schemas['Application'] = ${JSON.stringify(incomplete)};`,
        );
        folders.push({ folder, idNumber });
      }
      const files = folders.flatMap(({ folder }) =>
        ['good.ts', 'incomplete.ts'].map((name) => join(folder, name)),
      );
      const errors = await compile(root, files);
      assert.equal(errors.length, folders.length, errors.join('\n'));
      for (const [index, { folder, idNumber }] of folders.entries()) {
        const said = errors[index] as string;
        assert.ok(said.startsWith(`${relative(root, folder)}/incomplete.ts`), said);
        assert.match(said, new RegExp(`error TS2740: .* missing the following properties.*: ${idNumber}, `));
        assert.ok(said.length < READABLE, said);
      }
    });
  }
});

/** The errors of the compiler, one for each place. */
async function compile(root: string, files: readonly string[]): Promise<string[]> {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipDefaultLibCheck: true,
    allowImportingTsExtensions: true,
    target: 'es2022',
    lib: ['es2022'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
  };
  await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiled = run(process.execPath, [toolFile('typescript 5'), '-p', root], { cwd: root });
  const said = await compiled.then(
    () => '',
    ({ stdout }) => stdout as string,
  );
  // The lines after the first of an error are indented.
  return said.split(/\n(?! )/).filter((error) => error !== '');
}
