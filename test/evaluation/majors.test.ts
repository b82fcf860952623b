/** A decision is equal bit for bit on another major of Node (D51), for made-up policies and applications. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { missing, toolFile } from '../support/tools.ts';
import { digestOfPairs } from './made-policies.ts';

const run = promisify(execFile);
/** `CARDS=1000` decides a million pairs, in about 15 seconds on each. */
const CARDS = Number(process.env.CARDS ?? 20);

it('D51: Node 20 decides as this Node does', { skip: missing('esbuild', 'node 20') }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-majors-'));
  try {
    const file = join(folder, 'pairs.mjs');
    const entry = join(import.meta.dirname, 'made-policies.ts');
    await run(toolFile('esbuild'), [
      entry,
      '--bundle',
      '--platform=node',
      '--format=esm',
      `--outfile=${file}`,
    ]);
    const script = `import { digestOfPairs } from ${JSON.stringify(file)};
      console.log(process.versions.node.split('.')[0], digestOfPairs(${CARDS}));`;
    const { stdout } = await run(toolFile('node 20'), ['--input-type=module', '--eval', script]);
    assert.equal(stdout, `20 ${digestOfPairs(CARDS)}\n`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
