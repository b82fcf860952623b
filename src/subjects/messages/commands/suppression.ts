/**
 * `ventanilla suppression`: lists, adds and removes suppressions (docs/messages.md, "Consent"). A phone may come by
 * standard input.
 */
import type { Command } from 'commander';
import type { BlindIndex } from '../../../domain/application/ids.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli, limitOption } from '../../../program/cli/command.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import { acting } from '../../../program/operations/acting.ts';
import { addSuppression, listSuppressions, removeSuppression } from '../uses/suppressions.ts';

/** How many digits of a blind index are shown: enough to tell phones apart. */
const SHOWN_DIGITS = 12;
const PHONE =
  'the phone, with country code or as dialled at home, in quotes if it has spaces; "-" reads it from standard input';

export function addSuppressionCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addAdd(group, cli);
  addRemove(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the suppressed phones, newest first', 'suppression list')
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nPhones are not stored in clear. INDEX is the beginning of a keyed hash of the phone; add and remove show' +
        '\nthe same. SOURCE: keyword (the phone wrote BAJA or the like), channel (the phone told the channel to stop)' +
        '\nor operator (you).',
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

function short(phoneIndex: BlindIndex<'phone'>): string {
  return phoneIndex.slice(0, SHOWN_DIGITS);
}
