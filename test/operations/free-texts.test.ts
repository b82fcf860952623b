/** Every free text of a command that another person reads has the rule of such texts (ground/base/plain-text.ts). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { run } = commandLine(store);
const HIDDEN = {
  bidi: 'fi\u202ene',
  'zero width': 'fi\u200bne',
  joiner: 'fi\u200dne',
  control: 'fi\u0007ne',
};

/** Commands with the place of their free text. A login is none: it is stored without what a copied text hides. */
const COMMANDS: readonly (readonly string[])[] = [
  ...['approve', 'reject', 'disburse'].map((act) => ['application', act, '128', '--reason', '?']),
  ['application', 'disburse', '128', '--reason', 'x', '--override', '--second', '?'],
  ['application', 'approve', '128', '--reason', 'x', '--as', '?'],
  ['application', 'free-phone', '128', '--phone', '+573001234567', '--reason', '?'],
  ['application', 'show', '128', '--reveal', '--reason', '?'],
  ['contract', 'withdraw', '128', '--reason', '?'],
  ['document', 'reject', '1', '--reason', '?'],
  ['income', 'accept', '128', '--reason', '?'],
  ['subject', 'erase', '--id-number', '1', '--reason', '?'],
  ['conversation', 'say', '128', '?'],
  ['partner', 'add', '--name', '?', '--country', 'CO'],
];

for (const command of COMMANDS) {
  it(`${command.join(' ')} refuses hidden and control characters`, async () => {
    for (const [what, hidden] of Object.entries(HIDDEN)) {
      const { code, err } = await run(...command.map((part) => (part === '?' ? hidden : part)));
      assert.notEqual(code, 0, what);
      assert.match(err, /characters/, what);
    }
  });
}
