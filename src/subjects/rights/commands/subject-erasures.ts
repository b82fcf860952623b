/** `ventanilla subject erasures` and `subject replay-erasures`: for a store that an older backup comes back into. */

import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { addCommand, type Cli, limitOption } from '../../../program/cli/command.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from '../../../program/cli/output.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { listErasures } from '../uses/list-erasures.ts';
import { replayErasures, unknownPhonesText } from '../uses/replay-erasures.ts';
import { erasureJson, readErasure } from '../uses/written-erasure.ts';

/** Adds both commands. */
export function addErasures(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'erasures',
    'list the erasures, to keep the list outside of the database',
    'subject erasures --json',
  )
    .addOption(limitOption())
    .action((options: ListOptions) =>
      roles.operate((context) =>
        writeList(io, listErasures(context), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'AT', value: ({ at }) => shortTime(at) },
            {
              title: 'APPLICATIONS',
              value: ({ applications }) => applications.map(({ id }) => id).join(', '),
            },
          ],
          json: (erasure) => erasureJson(context.vault, erasure),
          none: 'Nobody was erased.',
        }),
      ),
    );
  const example = 'subject replay-erasures --from erasures.json';
  addCommand(
    group,
    'replay-erasures',
    'erase again in a store that was restored, before a service starts',
    example,
  )
    .requiredOption('--from <file>', 'the list that subject erasures printed as JSON')
    .action(async ({ from, json }: { from: string; json?: boolean }) => {
      const erasures = (await readList(from)).map(readErasure);
      return roles.operate(async (context) => {
        const done = await replayErasures(context, erasures);
        if (done.unknownPhones > 0) {
          writeNote(io, `${unknownPhonesText(done.unknownPhones)}\n`);
          io.exitCode = 1;
        }
        if (json) {
          const { erasures: count, applications, unknownPhones } = done;
          return writeJson(io, { erasures: count, applications, unknown_phones: unknownPhones });
        }
        await writeOutput(
          io,
          `${counted(done.erasures, 'erasure')} in the list, ${counted(done.applications, 'application was there again and is', 'applications were there again and are')} erased.\n`,
        );
      });
    });
}

async function readList(path: string): Promise<unknown[]> {
  let list: unknown;
  try {
    list = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${describeError(error)}`);
  }
  if (!Array.isArray(list)) throw new OperatorError(`${path} has no list of erasures`);
  return list;
}
