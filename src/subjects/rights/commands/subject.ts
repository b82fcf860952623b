/**
 * `ventanilla subject`: exports and erases what is stored about one person, and lists and replays erasures
 * (docs/subject.md). Reads standard input and files with lists.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { CORRECTABLE_FIELDS } from '../../../domain/application/correction.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { counted } from '../../../ground/base/counted.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type Io,
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from '../../../program/cli/output.ts';
import { addReveal, hiddenValue, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { noting } from '../../../program/operations/acting.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import type { Act } from '../../../program/operations/sql/operator-events.ts';
import { tellFaults } from '../../applications/commands/application-view.ts';
import { type Corrected, correctApplication } from '../../desk/uses/correct.ts';
import { explainedJson } from '../../messages/commands/application-show.ts';
import { type ErasedSubject, eraseSubject, type Found, findSubject } from '../uses/erase-subject.ts';
import { type Exported, exportSubject } from '../uses/export-subject.ts';
import type { Asked } from '../uses/find-applications.ts';
import { listErasures } from '../uses/list-erasures.ts';
import { replayErasures, unknownPhonesText } from '../uses/replay-erasures.ts';
import { erasureJson, readErasure } from '../uses/written-erasure.ts';

// First part: the options that name a person, `--phone` or `--id-number`, also by standard input.

interface NamedOptions {
  readonly phone?: string;
  readonly idNumber?: string;
}

const STDIN = '"-" reads it from standard input';

/** Adds the two options. */
function addNamed(command: Command): Command {
  return command
    .option('--phone <number>', `the phone, with country code or as dialled at home; ${STDIN}`)
    .option('--id-number <text>', `the citizen ID number, in any spelling; ${STDIN}`);
}

/** Ends with a wrong use unless exactly one of the two is given. */
function requireOne({ phone, idNumber }: NamedOptions, command: Command): void {
  if ((phone === undefined) === (idNumber === undefined)) {
    command.error('error: name the person either by --phone or by --id-number');
  }
}

async function readAsked(io: Io, { phone, idNumber }: NamedOptions): Promise<Asked> {
  if (phone !== undefined) return { phone: await hiddenValue(io, phone) };
  return { idNumber: await hiddenValue(io, idNumber ?? '') };
}

/** `Found 4 applications, with the ID number in 3 spellings.` */
function foundText({ phone }: NamedOptions, applications: number, spellings: number): string {
  const what = phone === undefined ? 'ID number' : 'phone';
  return `Found ${counted(applications, 'application')}, with the ${what} in ${counted(spellings, 'spelling')}.`;
}

// `ventanilla subject erase`.

interface EraseOptions extends NamedOptions {
  readonly reason: string;
  readonly close?: true;
  readonly yes?: true;
  readonly json?: boolean;
}

/** Adds `subject erase`. */
function addErase(group: Command, { roles, io }: Cli): void {
  /** Writes the erasure beside the backups. The erasure stands even if the place of the backups fails. */
  const keep = (context: OperatorContext) =>
    roles.keepErasures(context).catch((error: unknown) => {
      if (!(error instanceof ToldError)) throw error;
      writeNote(
        io,
        `The erasure is done, but ${error.message}. Backups do not know of it yet; a running service tries again.\n`,
      );
      io.exitCode = 1;
    });
  const example = 'subject erase --phone - --reason "ticket 4711" --yes';
  addNamed(addCommand(group, 'erase', 'erase everything of a person but amounts and scores', example))
    .requiredOption('--reason <text>', 'why; without personal data', asArgument(checkReason))
    .option(
      '--close',
      'reject open applications first, with the code data_erased; otherwise they are refused',
    )
    .addOption(new Option('--yes', 'erase; without --yes the command only tells what it would erase'))
    .action((options: EraseOptions, used: Command) => {
      requireOne(options, used);
      const { close, reason, yes, json } = options;
      return roles.operate(async (context) => {
        const asked = await readAsked(io, options);
        if (yes === undefined) {
          const found = await findSubject(context, asked);
          return json ? writeJson(io, foundJson(found)) : writeOutput(io, wouldText(found, options));
        }
        const erased = await eraseSubject(context, asked, { close: close === true, reason }).catch(
          async (error: unknown) => {
            // A part of the applications may be erased already.
            await keep(context).catch(() => {});
            throw error;
          },
        );
        await keep(context);
        await (json ? writeJson(io, erasedJson(erased)) : writeOutput(io, erasedText(erased, options)));
        if (erased.unopened.length > 0 || erased.isLeft) io.exitCode = 1;
      });
    });
}

function foundJson({ applications, spellings, open }: Found) {
  const partners = new Set(applications.map(({ partner }) => partner.name));
  return {
    erased: false,
    applications: applications.map(({ id }) => id),
    spellings: spellings.size,
    open,
    partners: [...partners],
  };
}

function wouldText({ applications, spellings, open, hasPhone }: Found, named: NamedOptions): string {
  if (applications.length === 0 && !hasPhone) return NOTHING;
  const lines = applications.map(
    ({ id, partner, status }) =>
      `application ${id} of ${partner.name}, ${status ?? 'with a status that cannot be read'}`,
  );
  if (applications.length === 0) lines.push('no application, but traces of messages to the phone');
  return [
    ...(applications.length > 0 ? [foundText(named, applications.length, spellings.size)] : []),
    'This would be erased:',
    ...lines.map((line) => `- ${line}`),
    ...keptText(applications.filter(({ signedAt }) => signedAt !== null).map(({ id }) => id)),
    ...(open.length > 0 ? [`Open: ${open.join(', ')}. Add --close to reject these first.`] : []),
    'Nothing was changed. Add --yes to erase. It cannot be undone.\n',
  ].join('\n');
}

function erasedJson({
  applications,
  spellings,
  closed,
  contracts,
  unopened,
  partners,
  isLeft,
}: ErasedSubject) {
  return {
    erased: !isLeft,
    applications,
    spellings: spellings.size,
    closed,
    kept_contracts: contracts,
    unopened_batches: unopened,
    partners: [...partners],
  };
}

/** The law asks to keep a signed contract for years, even if the person wants it erased. */
function keptText(ids: readonly ApplicationId[]): string[] {
  if (ids.length === 0) return [];
  return [
    `The signed contracts of applications ${ids.join(', ')} stay, sealed, for the legal term (CONTRACT_YEARS): docs/signing.md.`,
  ];
}

const NOTHING = 'Nothing of this person is stored, but perhaps a suppression of the phone.\n';
const TRACES =
  'Erased: traces of messages to the phone, which gets no more messages. There was no application.\n';

function erasedText(erased: ErasedSubject, named: NamedOptions): string {
  const { applications, spellings, closed, contracts, unopened, partners, hadPhone, isLeft } = erased;
  if (applications.length === 0) return hadPhone ? TRACES : NOTHING;
  return [
    foundText(named, applications.length, spellings.size),
    `Erased: applications ${applications.join(', ')}. Amounts and scores stay. The phones get no more messages.`,
    ...(closed.length > 0 ? [`Rejected first, with the code data_erased: ${closed.join(', ')}.`] : []),
    ...keptText(contracts),
    `These partners have the data too: ${[...partners].join(', ')}. Tell them.`,
    'Backups that are older still hold the data, sealed. backup restore erases it again (docs/subject.md).',
    ...(unopened.length > 0
      ? [
          `The envelopes of ${unopened.length === 1 ? 'batch' : 'batches'} ${unopened.join(', ')} do not open. Nobody can read them; they stay.`,
        ]
      : []),
    ...(isLeft
      ? ['More applications of the person come in all the time: stop who sends them, and erase again.']
      : []),
    '',
  ].join('\n');
}

export function addSubjectCommands(group: Command, cli: Cli): void {
  addExport(group, cli);
  addErase(group, cli);
  addErasures(group, cli);
  addCorrect(group, cli);
}

// `ventanilla subject erasures` and `subject replay-erasures`: for a store that an older backup comes back into.

/** Adds both commands. */
function addErasures(group: Command, { roles, io }: Cli): void {
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
        if (json) return writeJson(io, named(done, 'erasures applications unknown_phones'));
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

// `ventanilla subject correct`.

interface CorrectOptions extends ActorOptions {
  readonly application: ApplicationId;
  readonly field: string;
  readonly value: string;
  readonly reason: string;
  readonly json?: boolean;
}

/** Adds `subject correct`. */
function addCorrect(group: Command, { roles, io }: Cli): void {
  const example = 'subject correct --application 346 --field name --value - --reason "ticket 4711"';
  addCommand(group, 'correct', 'correct what an application says about its person', example)
    .requiredOption('--application <id>', 'the application', readApplicationId)
    .requiredOption('--field <name>', CORRECTABLE_FIELDS.join(', '))
    .requiredOption('--value <text>', `the right value; ${STDIN}`)
    .requiredOption('--reason <text>', 'why; without personal data', asArgument(checkReason))
    .addOption(actorOption())
    .action(({ application: id, json, ...options }: CorrectOptions) =>
      roles.operate(async (context) => {
        const { field, reason } = options;
        const value = await hiddenValue(io, options.value);
        const corrected = await correctApplication(namedBy(options, context), id, { field, value, reason });
        if (json)
          return writeJson(io, {
            application_id: id,
            ...named(corrected, 'correction field status decided_with_old_value signed_contract_stays'),
            decision_now: corrected.decisionNow,
          });
        await writeOutput(io, correctedText(id, corrected));
      }),
    );
}

/** What is done in place of a new decision, by the status. */
const DECIDE_AGAIN: Readonly<Record<ApplicationStatus, string>> = {
  in_review: 'The review decides: application approve or application reject.',
  pending_signature:
    'If it would be another one now, application reject ends it, and the partner may send it again.',
  rejected: 'The rejection is final: the partner may send the application again with the right value.',
  disbursed: 'The loan is paid out.',
};

function decisionNowText({ policy, score, decision }: NonNullable<Corrected['decisionNow']>): string {
  return `With the corrected values the live policy ${policy} would decide ${decision} (score ${score}).`;
}

function correctedText(id: ApplicationId, corrected: Corrected): string {
  const { correction, field, status, decidedWithOldValue, decisionNow, signedContractStays } = corrected;
  return [
    `Corrected ${field} of application ${id} (correction ${correction}).`,
    ...(decidedWithOldValue
      ? [`The decision and the score stay: they were made with the old value. ${DECIDE_AGAIN[status]}`]
      : ['The decision and the score stay.']),
    ...(decisionNow === null ? [] : [decisionNowText(decisionNow)]),
    ...(signedContractStays ? ['The signed contract stays as it was signed, with the old value.'] : []),
    '',
  ].join('\n');
}

// `ventanilla subject export`.

interface ExportOptions extends NamedOptions, RevealOptions {
  readonly json?: boolean;
}

/** Adds `subject export`. */
function addExport(group: Command, { roles, io, clock }: Cli): void {
  const example = 'subject export --phone - --reveal --reason "ticket 4711"';
  const command = addCommand(group, 'export', 'print everything about a person as JSON', example);
  addNamed(addReveal(command)).action((options: ExportOptions, used: Command) => {
    requireOne(options, used);
    const reason = revealReason(options, used);
    if (reason === null) used.error('error: it prints personal data: add --reveal --reason TEXT');
    return roles.operate(async (context) => {
      const exported = await exportSubject(context, await readAsked(io, options), (ids) => {
        const act = 'subject export';
        const [first = { act, reason }, ...others] = ids.map(
          (applicationId): Act => ({ act, applicationId, reason }),
        );
        return noting(namedBy(options, context), first, ...others);
      });
      await writeJson(io, exportedJson(exported, new Date(clock.nowMs())));
      const { applications, spellings } = exported;
      if (!options.json) writeNote(io, `${foundText(options, applications.length, spellings.size)}\n`);
      const faulty = exported.applications.filter(({ application }) => application.fault !== null);
      tellFaults(
        io,
        faulty.map(({ application }) => application.id),
      );
    });
  });
}

function exportedJson({ applications, spellings, events, phones }: Exported, now: Date) {
  return withTimes({
    exported_at: now,
    spellings: spellings.size,
    applications: applications.map(({ application, beside }) => ({
      ...explainedJson(application),
      ...beside,
    })),
    events,
    ...phones,
  });
}

/** Every time in the form of the other commands. */
function withTimes(value: unknown): unknown {
  if (value instanceof Date) return withOffset(value);
  if (Array.isArray(value)) return value.map(withTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTimes(one)]));
}
