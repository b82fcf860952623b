/** `ventanilla subject erase`. */
import { type Command, Option } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { addCommand, asArgument, type Cli } from '../../../program/cli/command.ts';
import { writeJson, writeNote, writeOutput } from '../../../program/cli/output.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { checkReason } from '../../../program/operations/reason.ts';
import { type ErasedSubject, eraseSubject, type Found, findSubject } from '../uses/erase-subject.ts';
import { addNamed, foundText, type NamedOptions, readAsked, requireOne } from './named-person.ts';

interface EraseOptions extends NamedOptions {
  readonly reason: string;
  readonly close?: true;
  readonly yes?: true;
  readonly json?: boolean;
}

/** Adds `subject erase`. */
export function addErase(group: Command, { roles, io }: Cli): void {
  /** The erasure is done whether or not the place of the backups works. */
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
            // A part may be erased.
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

/** The law asks for a signed contract for years, whoever wants it erased. */
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
