/** The program takes the commands that the documents tell a reader. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { submit } from '../packages/submit/src/command.ts';
import { buildProgram } from '../src/app/program.ts';
import type { ProgramRoles } from '../src/app/role-types.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { Sink } from './cli/harness.ts';
import { REPOSITORY } from './support/sources.ts';

const DOCUMENTS = ['.', 'docs', 'docs/decisions', 'client', 'examples']
  .flatMap((folder) => readdirSync(join(REPOSITORY, folder)).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }));
const BLOCK = /^```.*?^```/gms;

/** The words of a command as a shell reads them, up to a comment, a pipe or a redirection. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [text] of line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'|;&<>`)])+|[|;&<>`)]|#.*/g)) {
    if (/^[|;&<>`)#]/.test(text)) break;
    words.push(text.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  return words;
}

/** The commands of the program in lines of a shell. What a reader puts in the place of `ID` is a number. */
function commandsIn(lines: readonly string[]): string[][] {
  const command = /(?:^|[\s(])(?:npx ventanilla|\S*bin\/ventanilla|^ventanilla|node src\/start\.js) (.*)/g;
  return lines
    .flatMap((line) => [...line.matchAll(command)].map(([, rest = '']) => wordsOf(rest)))
    .filter((words) => !words.some((word) => word.includes('$(')))
    .map((words) => words.map((word) => (/^(ID|KEY|N)$/.test(word) ? '1' : word)));
}
const blockLines = (text: string) =>
  (text.match(BLOCK) ?? []).flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
const inlineCode = (text: string) =>
  [...text.replace(BLOCK, '').matchAll(/`(npx [^`]+)`/g)].map(([, code = '']) => code.replaceAll('\n', ' '));

/** Does none of its work: a command ends when its arguments are read. */
const NO_WORK = new Proxy({} as ProgramRoles, {
  get: () => () => Promise.reject(new Error('no work here')),
});

/** What the program says against the arguments; null: it takes them. */
async function refusalOf(args: readonly string[]): Promise<string | null> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const io = { stdout, stderr, stdin: process.stdin, exitCode: 0 };
  await buildProgram(NO_WORK, io, machineClock, [submit]).parseAsync([...args], { from: 'user' });
  return io.exitCode === 2 ? stderr.text : null;
}

describe('the documents', () => {
  it('have commands that the program takes', async () => {
    const refused: string[] = [];
    const check = async (path: string, args: string[], accepted = /^$/) => {
      const refusal = await refusalOf(args);
      if (refusal === null || accepted.test(refusal)) return;
      refused.push(`${path}: ${args.join(' ')}: ${refusal.split('\n')[0]}`);
    };
    const inBlocks = DOCUMENTS.flatMap(({ path, text }) =>
      commandsIn(blockLines(text)).map((args) => ({ path, args })),
    );
    for (const { path, args } of inBlocks) await check(path, args);
    // A sentence may name a command without its options.
    for (const { path, text } of DOCUMENTS)
      for (const args of commandsIn(inlineCode(text)))
        await check(path, args, /not specified|missing required|^Usage/);
    assert.deepEqual(refused, []);
    assert.ok(inBlocks.length > 100, `${inBlocks.length} commands`);
    assert.match((await refusalOf(['key', 'issue', '--partner', '1', '--cap', '5']))!, /unknown option/);
    assert.match((await refusalOf(['partner', 'rename', '1']))!, /--name/);
  });
});
