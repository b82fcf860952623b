/**
 * `ventanilla contract show`, `schedule` and `verify` (docs/signing.md). Writes a PDF to the disk if asked; each one is
 * recorded first.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type Io,
  recordOf,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from '../../../program/cli/output.ts';
import { writeNewFile } from '../../../program/cli/write-new-file.ts';
import { noting } from '../../../program/operations/acting.ts';
import { checkReason, type OperatorContext } from '../../../program/operations/operator-context.ts';
import { openStore } from '../../documents/open.ts';
import { openFinishing } from '../open.ts';
import {
  noContract,
  PLANNED,
  type ShownContract,
  showContract,
  shownInstallments,
  writtenContract,
  writtenSchedule,
} from '../uses/show-contract.ts';
import { type VerifiedContract, verifyContract } from '../uses/verify-contract.ts';

interface ShowOptions {
  readonly output?: string;
  readonly reason?: string;
  readonly as?: string;
  readonly json?: boolean;
}

/** Adds the commands. */
export function addContractCommands(group: Command, cli: Cli): void {
  addShow(group, cli);
  addVerify(group, cli);
  addSchedule(group, cli);
}

function addShow(group: Command, { roles, io }: Cli): void {
  const example = 'contract show 12 --output contract.pdf --reason "ticket 4711"';
  addCommand(group, 'show', 'show a contract, and write its PDF into a file', example)
    .argument('<application>', 'the application', readApplicationId)
    .option(
      '--output <file>',
      'writes the PDF, which has personal data, to a new file: the signed one where there is one',
    )
    .option('--reason <text>', 'why; without personal data', asArgument(checkReason))
    .addOption(actorOption())
    .action((id: ApplicationId, options: ShowOptions, command: Command) => {
      if (options.reason !== undefined && options.output === undefined) {
        command.error('error: --reason goes with --output');
      }
      return roles.operate(async (context: OperatorContext) => {
        const named = namedBy(options, context);
        const shown = await showContract(context, id);
        if (options.output !== undefined) {
          const setting = await roles.settings();
          const bytes = await writtenContract(await openFinishing(setting, context), id);
          // The record comes first, so nobody reads a PDF without a recorded reason.
          const { reason } = options;
          await noting(named, {
            act: 'contract show --output',
            applicationId: id,
            ...(reason && { reason }),
          });
          await writeNewFile(options.output, bytes);
        }
        if (options.json) return writeJson(io, shownJson(shown));
        await writeShown(io, shown);
        if (options.output !== undefined)
          writeNote(io, `The PDF was written to ${options.output}: delete the copy when you are done.\n`);
      });
    });
}

function addSchedule(group: Command, { roles, io }: Cli): void {
  const example = 'contract schedule 12 --output schedule.pdf --reason "ticket 4711"';
  addCommand(group, 'schedule', 'show the installments of a loan that is paid out, with their days', example)
    .argument('<application>', 'the application', readApplicationId)
    .option('--output <file>', 'writes the PDF that the applicant gets to a new file')
    .option('--reason <text>', 'why; without personal data', asArgument(checkReason))
    .addOption(actorOption())
    .action((id: ApplicationId, options: ShowOptions, command: Command) => {
      const { output, reason } = options;
      if (reason !== undefined && output === undefined) command.error('error: --reason goes with --output');
      return roles.operate(async (context: OperatorContext) => {
        const installments = await shownInstallments(context, id);
        if (output !== undefined) {
          const bytes = await writtenSchedule(await openFinishing(await roles.settings(), context), id);
          const act = { act: 'contract schedule --output', applicationId: id };
          await noting(namedBy(options, context), { ...act, ...(reason && { reason }) });
          await writeNewFile(output, bytes);
        }
        await writeList(io, installments, options, {
          columns: PLANNED_COLUMNS.map((name) => ({ title: name, value: (one) => one[name] })),
          json: (one) => one,
          none: 'There are no installments.',
        });
      });
    });
}

const PLANNED_COLUMNS = ['due', ...PLANNED] as const;

function addVerify(group: Command, { roles, io }: Cli): void {
  const about = 'prove a signature from the store alone: evidence, hashes, seals and state';
  addCommand(group, 'verify', about, 'contract verify 12')
    .argument('<application>', 'the application', readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: { as?: string; json?: boolean }) =>
      roles.operate(async (context: OperatorContext) => {
        const store = await openStore(await roles.settings(), context.clock);
        const verified = await verifyContract({ ...context, store }, id);
        if (verified === null) throw await noContract(context.database, id);
        await noting(namedBy(options, context), { act: 'contract verify', applicationId: id });
        await (options.json ? writeJson(io, verifiedJson(verified)) : writeVerified(io, verified));
        if (verified.checks.some(({ fault }) => fault !== null)) io.exitCode = 1;
      }),
    );
}

function shownJson({ contract, evidence }: ShownContract) {
  const { id, sha256, signedSha256, terms } = contract;
  const told = {
    ...terms,
    ...contract,
    contractId: Number(id),
    sha256: sha256?.toString('hex') ?? null,
    signedSha256: signedSha256?.toString('hex') ?? null,
    evidence: evidence.map((one) => ({ ...one, facts: JSON.parse(one.facts) as object })),
  };
  return named(told, [
    'application_id contract_id state sha256 signed_sha256 template country',
    { offer: '*' },
    'made_at expires_at signed_at withdrawn_at',
    { evidence: ['number kind recorded_at happened_at', { facts: '*' }] },
  ]);
}

function writeShown(io: Io, shown: ShownContract): Promise<void> {
  const { evidence, offer, ...facts } = shownJson(shown);
  const { amount, currency, installment, months, total, annualRate, rateName } = offer;
  const record = recordOf([
    ...Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), value] as const),
    [
      'offer',
      `${amount} ${currency}, ${months} x ${installment}, total ${total}, ${rateName} ${annualRate} %`,
    ],
    ...evidence.map(({ number, kind, recorded_at: at }) => [`evidence ${number}`, `${at} ${kind}`] as const),
  ]);
  return writeOutput(io, `${record}\n`);
}

function verifiedJson({ checks, ...rest }: VerifiedContract) {
  const told = {
    ...rest,
    contractId: Number(rest.contractId),
    verified: checks.every(({ fault }) => fault === null),
    checks: Object.fromEntries(checks.map(({ name, fault }) => [name, fault ?? 'ok'])),
  };
  const names = 'application_id contract_id verified state sha256 certificate timestamped evidence';
  return named(told, [names, { checks: '*' }]);
}

function writeVerified(io: Io, verified: VerifiedContract): Promise<void> {
  const { applicationId, contractId, state, evidence, sha256, checks, certificate, timestamped } = verified;
  const lines = checks.map(
    ({ name, fault }) => `${fault === null ? 'ok  ' : 'FAIL'}  ${name}${fault === null ? '' : `: ${fault}`}`,
  );
  return writeOutput(
    io,
    [
      `Contract ${contractId} of application ${applicationId} is ${state}, with ${counted(evidence, 'row')} of evidence.`,
      `SHA-256 of the shown contract: ${sha256 ?? '-'}`,
      `Sealed with the certificate ${certificate ?? '-'}${timestamped ? ', with a time stamp' : ', without a time stamp'}.`,
      ...lines,
      '',
    ].join('\n'),
  );
}
