/** The commands `ventanilla key brand` (docs/brand.md). Reads the brand's file; `uses/brand.ts` does the work. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { KeyId } from '../../../domain/partner/credential.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { addCommand, addGroup, type Cli } from '../../../program/cli/command.ts';
import { readKeyId } from '../../../program/cli/id-arguments.ts';
import { recordOf, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { type Brand, type KeyBrand, type Preview, readBrand, setBrand, showBrand } from '../uses/brand.ts';

export function addBrandCommands(keyGroup: Command, { roles, io }: Cli): void {
  const group = addGroup(keyGroup, 'brand', 'what the messages of a key say', 'key brand show 3');

  addCommand(group, 'show', 'show the messages of a key, defaults filled in', 'key brand show 3')
    .argument('<id>', 'the key', readKeyId)
    .action((id: KeyId, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const shown = await showBrand(context, id);
        if (json) return writeJson(io, shown.brand);
        await writeOutput(io, shownText(shown));
      }),
    );

  addCommand(group, 'set', 'give a key another brand (docs/brand.md)', 'key brand set 3 examples/brand.json')
    .argument('<id>', 'the key', readKeyId)
    .argument('<file>', 'JSON file with what differs from the default; it replaces the whole earlier brand')
    .action(async (id: KeyId, file: string, { json }: { json?: boolean }) => {
      const brand = await readBrandFile(file);
      await roles.operate(async (context) => {
        const set = await acting(
          context,
          (part) => setBrand(part, id, brand),
          () => ({ act: 'key brand set', target: `key ${id}` }),
        );
        if (json) return writeJson(io, set.brand);
        await writeOutput(
          io,
          `Key ${id} of ${set.key.partner.name} has its new brand, also for messages that wait. See its messages:\n\n`,
        );
        await writeOutput(io, `  npx ventanilla key brand show ${id}\n`);
      });
    });
}

/** Reads the brand in a file. Throws an `OperatorError` that names the file and each fault's place. */
export async function readBrandFile(file: string): Promise<Brand> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw new OperatorError(`the brand file ${file} cannot be read (${errorCode(error)})`);
  }
  return readBrand(text, file);
}

function shownText({ key, brand, previews }: KeyBrand): string {
  const head = `Messages of key ${key.id} of ${key.partner.name}, in the name of ${brand.partner}, to a made-up applicant\n`;
  const after = brand.after_review
    ? 'A review also sends its message to applicants who got one before.\n'
    : 'A review sends no message to applicants who got one before (after_review).\n';
  const talks =
    brand.conversation === false
      ? 'The tap on the first button begins no conversation (conversation).\n'
      : 'The tap on the first button begins a conversation.\n';
  return `${[head, ...previews.map(previewText), after].join('\n')}${talks}`;
}

function previewText({ kind, language, message }: Preview): string {
  const { text, buttons, template } = message;
  const record = recordOf([
    ['text', text],
    ['buttons', buttons.map(({ title }) => `[ ${title} ]`).join(' ')],
    ['template', `${template.name} (${template.language})`],
    ['parameters', template.parameters.join(' | ')],
  ]);
  return `${kind}, ${language}\n${record}\n`;
}
