/**
 * `ventanilla document accept` and `reject` (docs/documents.md). The commands are here because the conversation of the
 * application hears of each decision.
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { readAmount } from '../../../domain/document/amount.ts';
import { isMonth } from '../../../domain/document/month.ts';
import { named } from '../../../ground/base/named.ts';
import { actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { type Io, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import { readDocumentId, storeOf } from '../../documents/commands/document-store.ts';
import {
  acceptDocument,
  type Decided,
  type DocumentId,
  leftAfterRejection,
  rejectDocument,
  type StatedMonths,
} from '../uses/decide-document.ts';
import { speaking } from './speaking.ts';

interface Options {
  readonly reason: string;
  readonly month?: StatedMonths['months'];
  readonly currency?: string;
  readonly as?: string;
  readonly json?: boolean;
}

/** Adds the commands that decide on documents to their group. */
export function addDecisions(group: Command, cli: Cli): void {
  addAccept(group, cli);
  addReject(group, cli);
}

function addAccept(group: Command, { roles, io, clock }: Cli): void {
  const example =
    'document accept 7 --month 2026-09=2184950.50 --month 2026-10=2402000 --currency COP --reason "read by hand"';
  addCommand(group, 'accept', 'let a document count', example)
    .argument('<id>', 'the document', readDocumentId)
    .option(
      '--month <month=amount>',
      'what it says of a month, in place of what was read; may be repeated',
      readMonth,
    )
    .option('--currency <code>', 'with --month: the currency of these amounts', readCurrency)
    .requiredOption('--reason <text>', 'the reason, which goes into the record of acts')
    .addOption(actorOption())
    .action(async (id: DocumentId, options: Options, command: Command) => {
      const { month: months, currency, reason } = options;
      if ((months === undefined) !== (currency === undefined)) {
        command.error('error: --month and --currency go together');
      }
      const stated = months === undefined || currency === undefined ? null : { months, currency };
      const store = await storeOf({ roles, clock });
      return roles.operate(async (context) => {
        const decided = await acting(
          namedBy(options, context),
          (part) => acceptDocument(speaking(roles, part), store, id, { reason, stated }),
          (done) => actOf('document accept', done, reason),
        );
        await tell(io, decided, options);
      });
    });
}

function addReject(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'reject',
    'let a document count for nothing',
    'document reject 7 --reason "not a statement"',
  )
    .argument('<id>', 'the document', readDocumentId)
    .requiredOption('--reason <text>', 'the reason, which goes into the record of acts')
    .addOption(actorOption())
    .action((id: DocumentId, options: Options) =>
      roles.operate(async (context) => {
        const decided = await acting(
          namedBy(options, context),
          (part) => rejectDocument(speaking(roles, part), id, options.reason),
          (done) => actOf('document reject', done, options.reason),
        );
        await tell(io, decided, options);
        const { applicationId } = decided.document;
        const left = await leftAfterRejection(context, applicationId);
        if (left !== null && options.json !== true) await writeOutput(io, LEFT[left](applicationId));
      }),
    );
}

const LEFT = {
  income: (id: ApplicationId) =>
    `The income of application ${id} is not confirmed. Run conversation give-back ${id}: it is checked again.\n`,
  signed: (id: ApplicationId) =>
    `The contract of application ${id} is signed already. Where it must not be paid out, run application reject ${id}.\n`,
} as const;

function actOf(act: string, { document }: Decided, reason: string) {
  const { id, applicationId } = document;
  return { act, target: `document ${id}`, applicationId, reason: reason.trim() };
}

async function tell(io: Io, { document, from, to }: Decided, { json }: Options): Promise<void> {
  const { id, applicationId } = document;
  await (json === true
    ? writeJson(io, named({ ...document, from, state: to }, 'id application_id sha256 from state'))
    : writeOutput(io, `Document ${id} of application ${applicationId} went from ${from} to ${to}.\n`));
}

function readMonth(text: string, before: StatedMonths['months'] = []): StatedMonths['months'] {
  const [month = '', given = ''] = text.split('=', 2);
  const amount = readAmount(given);
  if (!isMonth(month) || amount === null) {
    throw new InvalidArgumentError('It must be a month and an amount: 2026-10=2402000.50.');
  }
  if (before.some((one) => one.month === month)) throw new InvalidArgumentError(`${month} is named twice.`);
  return [...before, { month, amount }];
}

function readCurrency(text: string): string {
  const code = text.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code)) throw new InvalidArgumentError('It must be a code of three letters: COP.');
  return code;
}
