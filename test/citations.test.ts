/** Every decision, section and document that a text cites is in the repository; no line of a comment is too wide. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const REPOSITORY = resolve(import.meta.dirname, '..');
const FOLDERS = [
  'src',
  'test',
  'verify',
  'docs',
  'bench',
  'client',
  'packages/submit/src',
  'packages/submit/test',
  'examples',
  'migrations',
  'sql',
];
const TEXT = /\.(ts|js|md|sql|py|sh|css|html)$/;
/** Numbers of a tracker, and papers outside of the repository. The pattern is joined so that this file cites none. */
const ELSEWHERE = new RegExp(
  `\\b${'iss'}ues? #?\\d|\\(${'des'}ign\\b|\\b${'des'}ign, "|channel['’]s ${'fac'}ts\\b`,
  'i',
);
/** `contract, "Limits"`, `contract "Limits"`, also several titles, also on from one line of a comment to the next. */
const SECTIONS = /\bcontract(?:['’]s|,)?\s+((?:"[^"]+",?\s*)+)/gi;
const DECISION = /\bD(\d{1,2})\b/g;
const CONTRACT = 'docs/contract.md';

function textsBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(REPOSITORY, path)).isFile());
}

const PATHS = [
  ...FOLDERS.flatMap(textsBelow),
  ...readdirSync(REPOSITORY).filter((name) => name.endsWith('.md')),
  '.env.example',
];
const TEXTS = new Map(PATHS.map((path) => [path, readFileSync(join(REPOSITORY, path), 'utf8')]));

/** Joins the lines of a comment. */
function joined(text: string): string {
  return text.replaceAll(/\n\s*(?:\*|--|\/\/|#)?\s*/g, ' ');
}

/** The headings of a document, and the anchors of its headings and `<a id>` tags. */
function targetsIn(document: string): { readonly titles: Set<string>; readonly anchors: Set<string> } {
  const titles = [...document.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title as string);
  const slugs = titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const ids = [...document.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id as string);
  return { titles: new Set(titles), anchors: new Set([...slugs, ...ids]) };
}

const { titles, anchors } = targetsIn(TEXTS.get(CONTRACT) as string);

test('no text cites a tracker number or a design outside of the repository', () => {
  assert.ok(PATHS.length > 300, `found only ${PATHS.length} texts`);
  const citing = [...TEXTS].flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => (ELSEWHERE.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(citing, []);
});

test('every cited section of the contract is a heading of docs/contract.md', () => {
  let count = 0;
  const unknown = [...TEXTS].flatMap(([path, text]) => {
    const cited = [...joined(text).matchAll(SECTIONS)].flatMap(([, list]) => [
      ...(list as string).matchAll(/"([^"]+)"/g),
    ]);
    count += cited.length;
    return cited
      .filter(([, title]) => !titles.has(title as string))
      .map(([, title]) => `${path}: "${title}"`);
  });
  assert.ok(count > 50, `found only ${count} citations`);
  assert.deepEqual(unknown, []);
});

test('every cited section of another document is a heading of that document', () => {
  const unknown = [...TEXTS].flatMap(([path, text]) =>
    [...joined(text).matchAll(/\b(ARCHITECTURE|docs\/[a-z-]+\.md),? "([^"]+)"/g)]
      .filter(([, name, title]) => {
        const document = TEXTS.get(name === 'ARCHITECTURE' ? 'ARCHITECTURE.md' : (name as string)) ?? '';
        return !targetsIn(document).titles.has(title as string);
      })
      .map(([cited]) => `${path}: ${cited}`),
  );
  assert.deepEqual(unknown, []);
});

test('every cited decision has its anchor in docs/contract.md', () => {
  const unknown = [...TEXTS].flatMap(([path, text]) =>
    [...text.matchAll(DECISION)]
      .filter(([, number]) => !anchors.has(`d${number}`))
      .map(([name]) => `${path}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test('a test cites every decision that is built', () => {
  const cited = new Set(
    [...TEXTS]
      .filter(([path]) => path.endsWith('.test.ts'))
      .flatMap(([, text]) => [...text.matchAll(/\bD(\d{1,2})(?:-D?(\d{1,2}))?\b/g)])
      .flatMap(([, first, last = first]) =>
        Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
      ),
  );
  const decisions = [
    ...(TEXTS.get(CONTRACT) as string).matchAll(/^<a id="d(\d+)"><\/a>\*\*D(\d+)\. (.*)\*\*/gm),
  ];
  assert.equal(decisions.length, 56);
  for (const [index, [, id, number, title]] of decisions.entries()) {
    assert.deepEqual([id, number], [`${index + 1}`, `${index + 1}`]);
    if (!title?.includes('Not built yet')) assert.ok(cited.has(index + 1), `D${number}`);
  }
});

test('every named document exists', () => {
  const missing = [...TEXTS].flatMap(([path, text]) =>
    [...text.matchAll(/\bdocs\/(?:[a-z-]+\.md|decisions\/\d{4})/g)]
      .filter(([name]) => !PATHS.some((known) => known.startsWith(name)))
      .map(([name]) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('every link of a document leads to a file and to a place in that file', () => {
  const broken = [...TEXTS].flatMap(([path, text]) =>
    path.endsWith('.md')
      ? [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
          ([link, file, anchor]) => {
            const target = file === '' ? path : join(dirname(path), file as string);
            if (!existsSync(join(REPOSITORY, target))) return [`${path}: ${link}`];
            const known = anchor === undefined || targetsIn(TEXTS.get(target) ?? '').anchors.has(anchor);
            return known ? [] : [`${path}: ${link}`];
          },
        )
      : [],
  );
  assert.deepEqual(broken, []);
});

/** A line of a comment, in TypeScript or in SQL. An instruction to the linter is one line, however long. */
const COMMENT = /^\s*(?:\*|\/\*|\/\/|--)(?! biome-ignore)/;

// The formatter wraps code alone, and the linter has no rule for comments.
test('no line of a comment is longer than 120 columns', () => {
  const tooLong = [...TEXTS].flatMap(([path, text]) =>
    /\.(?:[jt]s|sql)$/.test(path)
      ? text
          .split('\n')
          .flatMap((line, index) =>
            COMMENT.test(line) && [...line].length > 120 ? [`${path}:${index + 1}`] : [],
          )
      : [],
  );
  assert.deepEqual(tooLong, []);
});
