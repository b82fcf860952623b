/**
 * Builds the page of the console into `console/dist`: `node console/build.js`; with the argument `portal` that of the
 * portal into `portal/dist`, which uses parts of the console's. It does nothing where the sources are those of the last
 * build. The files of `dist/assets` have a hash in their names, and each one lies there compressed
 * too. Two builds at once do no harm: a file is put in its place whole, and the page comes last.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const CONSOLE = import.meta.dirname;
const REPOSITORY = join(CONSOLE, '..');
const PAGE = process.argv[2] === 'portal' ? join(REPOSITORY, 'portal') : CONSOLE;
const DIST = join(PAGE, 'dist');
/** The hash of the sources of the build that lies there. */
const STAMP = join(DIST, 'sources');
const ENTRY = 'src/main.tsx';
const ICON = 'src/listeners/partner/icon.svg';
/** What the page takes of the service beside types. */
const TABLES = [
  'src/domain/application/lifecycle.ts',
  'src/domain/application/reason-codes.ts',
  'src/domain/scorecard/scorecard.ts',
  'src/domain/scorecard/what-if.ts',
];

/** What the portal reads files of applicants by. */
const READER = ['packages/submit/src', 'src/domain', 'src/ground/base', 'src/wire/contract', 'client/src'];

const sources = await hashOfSources();
if ((await readFile(STAMP, 'utf8').catch(() => '')) !== sources) await buildPage();

async function buildPage() {
  const { page, assets } = await bundle();
  await mkdir(join(DIST, 'assets'), { recursive: true });
  const written = await Promise.all(
    assets.flatMap(({ name, content }) => [
      write(`assets/${name}`, content),
      compressed(content).then(([br, gz]) =>
        Promise.all([write(`assets/${name}.br`, br), write(`assets/${name}.gz`, gz)]),
      ),
    ]),
  );
  await write('index.html', page);
  await write('sources', sources);
  const kept = new Set(written.flat());
  for (const name of await readdir(join(DIST, 'assets'))) {
    if (!kept.has(`assets/${name}`) && !name.endsWith('.part'))
      await rm(join(DIST, 'assets', name), { force: true });
  }
}

/** The icon, and what esbuild makes: its program comes as a package of its own, so it needs no install script. */
async function bundle() {
  const { build } = await import('esbuild').catch(() => {
    process.stderr.write('esbuild is not installed: npm ci installs it with the development dependencies\n');
    process.exit(1);
  });
  const { outputFiles, metafile } = await build({
    entryPoints: [join(PAGE, ENTRY)],
    absWorkingDir: PAGE,
    outdir: join(DIST, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    // A page that is imported where it is shown becomes a file of its own, which the first load leaves out.
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    legalComments: 'eof',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const first = firstLoad(metafile.outputs);
  const files = outputFiles.map(({ path, contents }) => ({
    name: path.slice(path.lastIndexOf('assets') + 'assets/'.length),
    content: contents,
  }));
  const icon = await readFile(join(REPOSITORY, ICON));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  return {
    page: pageOf({ ...first, icon: iconName }),
    assets: [
      { name: iconName, content: icon },
      ...files.filter(({ name }) => name.endsWith('.js') || name === first.style),
    ],
  };
}

/**
 * The files that the page begins with. There is one style sheet: a second one would repeat rules that both need, and
 * change which of two rules wins. Throws where styles are missing in it.
 */
function firstLoad(outputs) {
  const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1);
  const [entry, { cssBundle, imports }] = Object.entries(outputs).find(
    ([, { entryPoint }]) => entryPoint === ENTRY,
  );
  const known = outputs[cssBundle].inputs;
  for (const path of Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))) {
    if (path.endsWith('.css') && !(path in known)) throw new Error(`${path} is not in the style sheet`);
  }
  const chunks = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => nameOf(path));
  return { script: nameOf(entry), style: nameOf(cssBundle), chunks };
}

function pageOf({ script, style, chunks, icon }) {
  const early = chunks.map((name) => `\n    <link rel="modulepreload" href="/assets/${name}">`).join('');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Ventanilla</title>
    <link rel="icon" href="/assets/${icon}" type="image/svg+xml">
    <link rel="stylesheet" href="/assets/${style}">${early}
    <script type="module" src="/assets/${script}"></script>
  </head>
  <body><div id="root"></div></body>
</html>
`;
}

function compressed(content) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  return Promise.all([
    promisify(brotliCompress)(content, { params }),
    promisify(gzip)(content, { level: 9 }),
  ]);
}

async function write(name, content) {
  const path = join(DIST, name);
  const part = `${path}.${process.pid}.part`;
  await writeFile(part, content);
  await rename(part, path);
  return name;
}

/** A hash of all that the built files come from: the sources, and the versions of the packages. */
async function hashOfSources() {
  const hash = createHash('sha256');
  const read = READER.map((path) => join(REPOSITORY, path));
  const folders = PAGE === CONSOLE ? [CONSOLE] : [CONSOLE, PAGE, ...read];
  const names = await Promise.all(
    folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  );
  const built = folders.map((folder) => join(folder, 'dist'));
  const paths = names
    .flat()
    .filter((entry) => entry.isFile() && !built.some((dist) => entry.parentPath.startsWith(dist)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const others = [ICON, ...TABLES, 'package-lock.json'].map((path) => join(REPOSITORY, path));
  for (const path of [...paths, ...others]) {
    hash
      .update(`${path.slice(REPOSITORY.length)}\n`)
      .update(await readFile(path))
      .update('\n');
  }
  return hash.digest('hex');
}
