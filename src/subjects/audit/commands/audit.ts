/** `ventanilla audit`: lists the record of operators' acts, prints its head, and verifies its chain (docs/audit.md). */
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, asArgument, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import {
  type ChainHead,
  chainHead,
  headText,
  listEvents,
  readHeadText,
  type Verification,
  verifyChain,
} from '../uses/verify-chain.ts';

export function addAuditCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addHead(group, cli);
  addVerify(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list what operators did and read, newest first', 'audit list')
    .option('--application <id>', 'only what concerns this application', readApplicationId)
    .addOption(limitOption())
    .action(({ application, ...options }: ListOptions & { application?: number }) =>
      roles.operate((context) =>
        writeList(io, listEvents(context, application), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'AT', value: ({ at }) => shortTime(at) },
            { title: 'BY', value: ({ actor }) => actor },
            { title: 'ACT', value: ({ act }) => act },
            { title: 'TARGET', value: ({ target }) => target },
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'REASON', value: ({ reason }) => reason },
          ],
          json: (event) => named({ ...event, by: event.actor }, 'id at by act target application_id reason'),
          none: 'Nothing is recorded yet.',
        }),
      ),
    );
}

function addHead(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'head', 'print the end of the chain, to keep it elsewhere', 'audit head').action(
    ({ json }: ListOptions) =>
      roles.operate(async (context) => {
        const head = headText(await chainHead(context));
        await (json ? writeJson(io, { head }) : writeOutput(io, `${head}\n`));
      }),
  );
}

function addVerify(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'verify',
    'compute the chain again, name each row that does not fit, and compare the activations of policies',
    'audit verify --head "$(cat head)"',
  )
    .option(
      '--head <value>',
      'what audit head printed before: also shows a cut at the end',
      asArgument(readHeadText),
    )
    .action(({ head, json }: ListOptions & { head?: ChainHead }) =>
      roles.operate(async (context) => {
        const verified = await verifyChain(context, head ?? null);
        const { misfitCount, mismatchCount } = verified;
        const isOk = misfitCount === 0 && mismatchCount === 0;
        if (!isOk) io.exitCode = 1;
        const names = [
          ...['ok events', { misfits: 'id fault' }, 'misfit_count'],
          ...[{ mismatches: 'activation act fault' }, 'mismatch_count'],
        ] as const;
        const told =
          mismatchCount > 0 ? verified : { ...verified, mismatches: undefined, mismatchCount: undefined };
        if (json) return writeJson(io, named({ ...told, ok: isOk }, names));
        await writeOutput(io, chainText(verified));
        if (mismatchCount > 0) await writeOutput(io, mismatchText(verified));
      }),
    );
}

function chainText({ events, misfits, misfitCount }: Verification): string {
  if (misfitCount === 0) return `Every row fits: ${counted(events, 'row')}.\n`;
  const lines = misfits.map(({ id, fault }) => `Row ${id} does not fit: ${fault}.\n`);
  return `${lines.join('')}The record is not intact: ${counted(misfitCount, 'fault')}${unnamed(misfitCount - misfits.length)}. ${counted(events, 'row fits', 'rows fit')}. See docs/audit.md.\n`;
}

function mismatchText({ mismatches, mismatchCount }: Verification): string {
  const lines = mismatches.map(
    ({ activation, act, fault }) =>
      `${activation === null ? `Row ${act}` : `Activation ${activation} of a policy`}: ${fault}.\n`,
  );
  return `${lines.join('')}Activations and record differ: ${counted(mismatchCount, 'fault')}${unnamed(mismatchCount - mismatches.length)}. See docs/audit.md.\n`;
}

const unnamed = (count: number) => (count > 0 ? `, ${count} of them not shown` : '');
