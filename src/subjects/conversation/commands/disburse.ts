/**
 * `ventanilla application disburse` and the group `ventanilla disbursement`: payments and their lines (D34, D46;
 * docs/signing.md, "The payment"). They are here because the conversation of the application hears of a payment. Reads
 * the files of proofs.
 */
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import { UNSPECIFIED } from '../../../domain/application/reason-codes.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy, readName } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { type Io, writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { addReviewCommand, type ReviewOptions } from '../../applications/commands/review-command.ts';
import { checkSecond, OVERRIDE, type Reviewed, requireMoved } from '../../applications/uses/applications.ts';
import { openStore } from '../../documents/open.ts';
import { membersOf, readLine, type TypedLine } from '../../signing/rules/disbursement-lines.ts';
import type { GivenLine } from '../../signing/uses/disburse.ts';
import { MOST_PROOF_BYTES, type Proof, withProofs } from '../../signing/uses/keep-proof.ts';
import type { ReturnedLine } from '../../signing/uses/later-lines.ts';
import { planOf, type StoredLine, showLines } from '../../signing/uses/show-lines.ts';
import { payOutNow, recordLater } from '../uses/signed/pay-out.ts';
import { termsOfCommand } from './speaking.ts';

/** The options about lines. */
interface LineOptions {
  readonly line?: readonly string[];
  readonly proof?: string;
}

interface DisburseOptions extends ReviewOptions, LineOptions {
  readonly override?: true;
  readonly second?: string;
}

const DISBURSE = {
  action: 'disburse',
  description: 'mark a signed application as paid out, with what was paid to whom; its phone is free again',
  reason: 'paid, ref 4711',
  code: 'funds_transferred',
  more: ' \\\n    --line "payee=applicant;amount=5970000;reference=4711;value-date=2026-11-20"',
} as const;

/** Adds `application disburse` to the group of the applications. */
export function addDisburse(group: Command, cli: Cli): void {
  addReviewCommand<DisburseOptions>(
    group,
    cli,
    DISBURSE,
    async (command, options, count) => {
      requirePair(command, options);
      if (count > 1 && (options.line !== undefined || options.proof !== undefined))
        command.error('error: --line and --proof go with one application');
      const lines = (await typedLines(cli.io, options)).map(readLine);
      const files = await proofFiles(lines, options);
      return (by, id) => disburseOne(cli, by, id, { options, lines, files });
    },
    (command) => {
      addLineOptions(command, 'payee');
      command
        .option(
          '--override',
          'pay out although the contract is not signed, the applicant may still withdraw, the lines differ from the contract, or the rate is above the legal maximum; needs --second',
        )
        .option('--second <name>', 'with --override: the second operator, who agrees', asArgument(readName));
    },
  );
}

function addLineOptions(command: Command, first: 'payee' | 'returned'): Command {
  return command
    .option(
      '--line <line>',
      `what was paid: "${first}=...;amount=...;reference=...;value-date=...", also with currency=... and proof=FILE; may be repeated; - reads the lines from standard input`,
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option('--proof <file>', 'the proof of the bank, a PDF or a picture, for every line without its own');
}

function requirePair(
  command: Command,
  { override, second }: Pick<DisburseOptions, 'override' | 'second'>,
): void {
  if ((override === true) !== (second !== undefined)) {
    command.error('error: --override and --second go together: two operators decide');
  }
}

/** What one payment is made of. */
interface Typed<Options> {
  readonly options: Options;
  readonly lines: readonly TypedLine[];
  readonly files: ReadonlyMap<string, Buffer>;
}

async function disburseOne(
  { roles }: Cli,
  by: OperatorContext,
  id: ApplicationId,
  { options, lines, files }: Typed<DisburseOptions>,
): Promise<Reviewed> {
  const { reason, reasonCode = UNSPECIFIED, second, override } = options;
  const why = checkReason(reason);
  checkSecond(by.actor, second);
  const terms = termsOfCommand(roles);
  const { to } = TRANSITIONS.disburse;
  return withFiles({ roles }, by, id, files, (proofs) =>
    acting(
      by,
      async (part): Promise<Reviewed> => {
        const payment = {
          ...{ lines: provenLines(lines, options, proofs), actor: by.actor, reason: why, reasonCode },
          ...(second !== undefined && { second }),
          isOverride: override === true,
        };
        const paid = await payOutNow(part, id, payment, terms);
        if (paid.kind === 'refused') throw new OperatorError(`application ${id}: ${paid.text}; ${OVERRIDE}`);
        const from = requireMoved(id, 'disburse', paid.moved);
        return { action: 'disburse', from, to, reasonCode, second: second ?? null };
      },
      () => ({
        act: `application disburse${second === undefined ? '' : ' --override'}`,
        ...(second !== undefined && { target: `second operator ${second}` }),
        applicationId: id,
        reason: why,
      }),
    ),
  );
}

/** Does the work with the stored proofs; without files no store is opened. */
async function withFiles<T>(
  { roles }: Pick<Cli, 'roles'>,
  by: OperatorContext,
  id: ApplicationId,
  files: ReadonlyMap<string, Buffer>,
  work: (proofs: ReadonlyMap<string, Proof>) => Promise<T>,
): Promise<T> {
  if (files.size === 0) return work(new Map());
  const store = await openStore(await roles.settings(), by.clock);
  return withProofs({ ...by, store }, id, files, work);
}

/** The lines with their proofs in the store. */
function provenLines<Line extends { readonly proof: string | null }>(
  lines: readonly Line[],
  { proof: ofAll }: LineOptions,
  proofs: ReadonlyMap<string, Proof>,
): (Omit<Line, 'proof'> & Pick<GivenLine, 'proof'>)[] {
  return lines.map(({ proof, ...line }) => ({ ...line, proof: proofs.get(proof ?? ofAll ?? '') ?? null }));
}

/** The texts of the lines: those of the options, and those of standard input where one of them is `-`. */
async function typedLines(io: Io, { line = [] }: LineOptions): Promise<string[]> {
  const typed = line.filter((text) => text !== '-');
  if (typed.length === line.length) return typed;
  for await (const text of createInterface({ input: io.stdin ?? process.stdin, crlfDelay: Infinity }))
    if (text.trim() !== '') typed.push(text);
  return typed;
}

/** The files of the proofs by their paths. Throws `OperatorError` for one that cannot be read, or is too large. */
async function proofFiles(
  lines: readonly { readonly proof: string | null }[],
  { proof }: LineOptions,
): Promise<Map<string, Buffer>> {
  const paths = [...lines.map((line) => line.proof), proof ?? null].filter((path) => path !== null);
  if (proof !== undefined && lines.length === 0)
    throw new OperatorError('--proof needs a line that it proves');
  const files = new Map<string, Buffer>();
  for (const path of new Set(paths)) {
    try {
      if ((await stat(path)).size <= MOST_PROOF_BYTES) files.set(path, await readFile(path));
    } catch (error) {
      throw new OperatorError(`${path} cannot be read: ${describeError(error)}`);
    }
    if (!files.has(path))
      throw new OperatorError(`${path} has more than ${MOST_PROOF_BYTES / 1024 / 1024} MiB`);
  }
  return files;
}

/** Adds the commands of the group. */
export function addDisbursementCommands(group: Command, cli: Cli): void {
  addPlan(group, cli);
  addList(group, cli);
  addReturn(group, cli);
  addPay(group, cli);
}

function addPlan(group: Command, { roles, io }: Cli): void {
  const about = 'list what the contract says to pay to whom, and what of it is open';
  addCommand(group, 'plan', about, 'disbursement plan 12')
    .argument('<application>', 'the application', readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const plan = await planOf(context, id);
        await noting(namedBy(options, context), { act: 'disbursement plan', applicationId: id });
        await writeList(io, plan, options, {
          columns: PLAN.map((name) => ({ title: name, value: (one) => one[name] })),
          json: (one) => named(one, 'payee amount currency reference open'),
          none: 'The contract pays nobody.',
        });
      }),
    );
}

const PLAN = ['payee', 'amount', 'currency', 'reference', 'open'] as const;

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list what was paid to whom, and what came back', 'disbursement list 12')
    .argument('<application>', 'the application', readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const { currency, lines } = await showLines(context, id);
        await noting(namedBy(options, context), { act: 'disbursement list', applicationId: id });
        await writeLines(io, lines, currency, options.json === true);
      }),
    );
}

async function writeLines(
  io: Io,
  lines: readonly StoredLine[],
  currency: string,
  json: boolean,
): Promise<void> {
  if (json)
    return writeJson(
      io,
      lines.map((line) => lineJson(line, currency)),
    );
  const texts = lines.map(({ number, kind, returned, payee, amount, reference, valueDate, proof }) => {
    const what = kind === 'paid' ? `paid to ${payee}` : `came back of line ${returned}, ${payee}`;
    const proven = proof === null ? '' : ', with a proof';
    return `${number}. ${amount} ${currency} ${what} on ${valueDate}, reference ${reference}${proven}`;
  });
  await writeOutput(io, texts.length === 0 ? 'There are no lines.\n' : `${texts.join('\n')}\n`);
}

function lineJson({ proof, ...line }: StoredLine, currency: string) {
  const told = { ...line, currency, proofSha256: proof?.sha256.toString('hex') ?? null };
  return named(
    told,
    'number kind returned payee amount currency reference value_date proof_sha256 recorded_at recorded_by second',
  );
}

interface LaterOptions extends ActorOptions, LineOptions {
  readonly reason: string;
  readonly override?: true;
  readonly second?: string;
  readonly json?: boolean;
}

function addReturn(group: Command, cli: Cli): void {
  const example =
    'disbursement return 12 --reason "account closed" \\\n    --line "returned=2;amount=3000000;reference=4712;value-date=2026-11-23"';
  const command = addCommand(group, 'return', 'record that money came back', example);
  addLater(command, 'returned', async (id, options: LaterOptions) => {
    const lines = (await typedLines(cli.io, options)).map(readReturned);
    const files = await proofFiles(lines, options);
    await later(cli, id, { options, files }, 'disbursement return', (proofs) => ({
      kind: 'returned',
      lines: provenLines(lines, options, proofs),
    }));
  });
}

function addPay(group: Command, cli: Cli): void {
  const example =
    'disbursement pay 12 --reason "new account" \\\n    --line "payee=Banco Uno;amount=3000000;reference=4713;value-date=2026-11-24"';
  const command = addCommand(group, 'pay', 'record what was paid after the payment', example);
  command
    .option('--override', 'pay more than the contract says; needs --second')
    .option('--second <name>', 'with --override: the second operator, who agrees', asArgument(readName));
  addLater(command, 'payee', async (id, options: LaterOptions) => {
    requirePair(command, options);
    const lines = (await typedLines(cli.io, options)).map(readLine);
    const files = await proofFiles(lines, options);
    await later(cli, id, { options, files }, 'disbursement pay', (proofs) => ({
      kind: 'paid',
      lines: provenLines(lines, options, proofs),
    }));
  });
}

function addLater(
  command: Command,
  first: 'payee' | 'returned',
  action: (id: ApplicationId, options: LaterOptions) => Promise<void>,
): void {
  addLineOptions(command, first)
    .argument('<application>', 'the application', readApplicationId)
    .requiredOption(
      '--reason <text>',
      'why, for the record of acts; without personal data',
      asArgument(checkReason),
    )
    .addOption(actorOption())
    .action(action);
}

/** Records lines after the payment, in one transaction with the record of acts. */
async function later(
  { roles, io }: Cli,
  id: ApplicationId,
  { options, files }: Omit<Typed<LaterOptions>, 'lines'>,
  act: string,
  linesOf: (proofs: ReadonlyMap<string, Proof>) => Parameters<typeof recordLater>[2],
): Promise<void> {
  const { reason, second } = options;
  await roles.operate(async (context) => {
    const by = namedBy(options, context);
    checkSecond(by.actor, second);
    const who = { actor: by.actor, ...(second !== undefined && { second }) };
    const { lines } = await withFiles({ roles }, by, id, files, (proofs) =>
      acting(
        by,
        (part) => recordLater(part, id, linesOf(proofs), who),
        () => ({
          ...{ act, applicationId: id, reason },
          ...(second !== undefined && { target: `second operator ${second}` }),
        }),
      ),
    );
    const { currency } = await showLines(context, id);
    await writeLines(io, lines, currency, options.json === true);
  });
}

const RETURNED = ['returned', 'amount', 'reference', 'value-date'] as const;

/** Reads `returned=N;amount=...;reference=...;value-date=...`. Throws `OperatorError` that names the field. */
function readReturned(text: string): Omit<ReturnedLine, 'proof'> & { readonly proof: string | null } {
  const values = membersOf(text, [...RETURNED, 'currency', 'proof'], RETURNED);
  const returned = values.get('returned')!;
  if (!/^[1-9]\d{0,2}$/.test(returned))
    throw new OperatorError('a line needs returned, the number of a line');
  return {
    returned: Number(returned),
    amount: values.get('amount')!,
    reference: values.get('reference')!,
    valueDate: values.get('value-date')!,
    currency: values.get('currency') ?? null,
    proof: values.get('proof') ?? null,
  };
}
