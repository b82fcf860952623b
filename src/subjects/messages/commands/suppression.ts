/**
 * `ventanilla suppression`: lists, adds, removes and imports suppressions (docs/messages.md, "Consent"). A phone may
 * come by standard input.
 */
import type { Command } from 'commander';
import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, asArgument, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readCountry } from '../../../program/cli/country-argument.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import { acting } from '../../../program/operations/acting.ts';
import { importRegister, listRegisters, readRegisterName } from '../uses/import-register.ts';
import { addSuppression, listSuppressions, removeSuppression } from '../uses/suppressions.ts';

/** How many digits of a blind index are shown: enough to tell phones apart. */
const SHOWN_DIGITS = 12;
const PHONE =
  'the phone, with country code or as dialled at home, in quotes if it has spaces; "-" reads it from standard input';

export function addSuppressionCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addAdd(group, cli);
  addRemove(group, cli);
  addImport(group, cli);
  addRegisters(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the suppressed phones, newest first', 'suppression list')
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nPhones are not stored in clear. INDEX is the beginning of a keyed hash of the phone; add and remove show' +
        '\nthe same. SOURCE: keyword (the phone wrote BAJA or the like), channel (the phone told the channel to stop),' +
        '\noperator (you) or the name of a register, which come last.',
    )
    .action((options: ListOptions) =>
      roles.operate((context) =>
        writeList(io, listSuppressions(context), options, {
          columns: [
            { title: 'INDEX', value: ({ phoneIndex }) => short(phoneIndex) },
            { title: 'SOURCE', value: ({ source }) => source },
            { title: 'SINCE', value: ({ createdAt }) => shortTime(createdAt) },
          ],
          json: (one) =>
            named({ ...one, phoneIndex: short(one.phoneIndex) }, 'phone_index source created_at'),
          none: 'No suppressed phones.',
        }),
      ),
    );
}

function addAdd(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'add', 'send no more messages to a phone', "suppression add '+57 300 123 4567'")
    .argument('<phone>', PHONE)
    .action((phone: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const text = await hiddenValue(io, phone);
        const { phoneIndex, added } = await acting(
          context,
          (part) => addSuppression(part, text),
          (done) => ({ act: 'suppression add', target: `phone index ${short(done.phoneIndex)}` }),
        );
        if (json) return writeJson(io, { phone_index: short(phoneIndex), added });
        const what = added ? 'No more messages go to this phone' : 'This phone was already suppressed';
        await writeOutput(io, `${what} (${short(phoneIndex)} in the list).\n`);
      }),
    );
}

function addRemove(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'remove', 'let messages go to a phone again', "suppression remove '+57 300 123 4567'")
    .argument('<phone>', PHONE)
    .action((phone: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const text = await hiddenValue(io, phone);
        const { phoneIndex } = await acting(
          context,
          (part) => removeSuppression(part, text),
          (done) => ({ act: 'suppression remove', target: `phone index ${short(done.phoneIndex)}` }),
        );
        if (json) return writeJson(io, { phone_index: short(phoneIndex), removed: true });
        await writeOutput(
          io,
          `Messages may go to this phone again (it was ${short(phoneIndex)} in the list).\n`,
        );
      }),
    );
}

interface ImportOptions {
  readonly source: string;
  readonly country?: Country;
  readonly mayShrink?: boolean;
  readonly json?: boolean;
}

function addImport(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'import',
    'import a register of numbers that want no messages',
    'suppression import excluded.txt --source "CRC"',
  )
    .argument('<file>', 'the whole register, a phone a line')
    .requiredOption('--source <name>', 'the name of the register', asArgument(readRegisterName))
    .option('--country <code>', 'the country of numbers without a country code (ISO 3166)', readCountry)
    .option('--may-shrink', 'take numbers away also where many are missing in the file')
    .addHelpText(
      'after',
      '\nA number that the file does not list any more gets messages again, unless something else suppresses it.',
    )
    .action((file: string, { json, source, country = undefined, mayShrink = false }: ImportOptions) =>
      roles.operate(async (context) => {
        const done = await importRegister(context, file, { source, country: country ?? null, mayShrink });
        if (json) return writeJson(io, named(done, 'source added already gone refused refused_lines'));
        const { added, already, gone, refused, refusedLines } = done;
        const which =
          refused === 0
            ? ''
            : ` (lines ${refusedLines.join(', ')}${refused > refusedLines.length ? ' …' : ''})`;
        await writeOutput(
          io,
          `Register ${source}: ${added} added, ${already} already there, ${gone} gone, ${refused} refused${which}.\n`,
        );
      }),
    );
}

function addRegisters(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'registers', 'list the registers that were imported', 'suppression registers').action(
    ({ json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const registers = await listRegisters(context);
        await writeList(
          io,
          registers,
          { json: json === true, limit: registers.length + 1 },
          {
            columns: [
              { title: 'REGISTER', value: ({ name }) => name },
              { title: 'NUMBERS', value: ({ numbers }) => (numbers === null ? null : `${numbers}`) },
              { title: 'IMPORTED', value: ({ importedAt }) => shortTime(importedAt) },
            ],
            json: (one) => named(one, 'name numbers imported_at'),
            none: 'No register was imported.',
          },
        );
      }),
  );
}

function short(phoneIndex: BlindIndex<'phone'>): string {
  return phoneIndex.slice(0, SHOWN_DIGITS);
}
