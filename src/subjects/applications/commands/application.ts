/**
 * The commands `ventanilla application`: approve, reject, disburse, free-phone, also for the ids of a file (D34;
 * docs/operations.md, "Reviews and leads"). Reads that file; `uses/applications.ts` does the work. Messages add
 * `application show`.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { REVIEW_ACTIONS, type ReviewAction } from '../../../domain/application/lifecycle.ts';
import { codesOfOperators, type ReasonCode } from '../../../domain/application/reason-codes.ts';
import { describeError, errorCode } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { actorOption, namedBy, readName } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli, choiceOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { type Io, unheard, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { type Reviewed, reviewApplication } from '../uses/applications.ts';
import { freePhone } from '../uses/free-phone.ts';
import { addList } from './application-list.ts';

// `ventanilla application approve`, `reject` and `disburse`.

// Reads the applications that a command is about, from a file with an id in each line.

/** More ids than an operator decides at once; the bound keeps a wrong file out of memory. */
const MAX_IDS = 100_000;
/** A longer line cannot be an id. */
const MAX_LINE_LENGTH = 1_000;

/**
 * The ids of a file, or of standard input if the path is `-`: the first field of each line, in its order. Leaves out
 * empty lines and a first line without any digit, which has the names of columns. Throws `OperatorError` that names the
 * line, before anything is done.
 */
async function readIdFile(path: string): Promise<ApplicationId[]> {
  const input = path === '-' ? process.stdin : createReadStream(path);
  const ids: ApplicationId[] = [];
  let line = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      line += 1;
      const field = firstField(text);
      if (field === '' || (line === 1 && !/\d/.test(field))) continue;
      const id = Number(field);
      if (!/^\d+$/.test(field) || id < 1 || !Number.isSafeInteger(id)) {
        throw new OperatorError(
          `line ${line} of ${nameOf(path)} has no id of an application in its first column`,
        );
      }
      ids.push(toApplicationId(id));
      if (ids.length > MAX_IDS) throw new OperatorError(`${nameOf(path)} has more than ${MAX_IDS} ids`);
    }
  } catch (error) {
    if (error instanceof OperatorError || errorCode(error) === undefined) throw error;
    throw new OperatorError(`${nameOf(path)} cannot be read: ${describeError(error)}`);
  }
  if (ids.length === 0) throw new OperatorError(`${nameOf(path)} has no ids`);
  return ids;
}

function firstField(text: string): string {
  const [field = ''] = text
    .replace(/^\uFEFF/, '')
    .slice(0, MAX_LINE_LENGTH)
    .split(/[,;\t]/, 1);
  return field.trim().replace(/^"(.*)"$/, '$1');
}

function nameOf(path: string): string {
  return path === '-' ? 'the standard input' : path;
}

interface ActionTexts {
  readonly description: string;
  readonly reason: string;
  readonly code: ReasonCode;
}

const ACTION_TEXTS: Readonly<Record<ReviewAction, ActionTexts>> = {
  approve: {
    description: 'approve an application in review, and tell the applicant',
    reason: 'income confirmed by bank',
    code: 'income_verified',
  },
  reject: {
    description: 'reject an open application, and tell the applicant; its phone is free again',
    reason: 'documents are forged',
    code: 'documents_invalid',
  },
  disburse: {
    description: 'mark a signed application as paid out; its phone is free again',
    reason: 'paid, ref 4711',
    code: 'funds_transferred',
  },
};

interface ReviewOptions {
  readonly file?: string;
  readonly reason: string;
  readonly reasonCode?: ReasonCode;
  readonly as?: string;
  readonly json?: boolean;
  readonly override?: true;
  readonly second?: string;
}

/** Adds the command of a review. */
function addReview(group: Command, { roles, io }: Cli, action: ReviewAction): void {
  const { description, reason, code } = ACTION_TEXTS[action];
  const example = `application ${action} 12 --reason "${reason}" --reason-code ${code}`;
  const command = addCommand(group, action, description, example);
  if (action === 'disburse') addOverride(command);
  command
    .argument('[ids...]', 'the applications', (text: string, ids: readonly ApplicationId[] = []) => [
      ...ids,
      readApplicationId(text),
    ])
    .option('--file <path>', 'a file with an id in the first column of each line; - is the standard input')
    .requiredOption('--reason <text>', 'the reason, which goes into the history; the partner does not see it')
    .addOption(
      choiceOption(
        '--reason-code <code>',
        'the code that the partner sees; default unspecified',
        codesOfOperators(action),
      ),
    )
    .addOption(actorOption())
    .action(async (ids: readonly ApplicationId[], options: ReviewOptions, command: Command) => {
      const { file, reason, reasonCode, as, second } = options;
      if ((options.override === true) !== (second !== undefined)) {
        command.error('error: --override and --second go together: two operators decide');
      }
      if ((ids.length === 0) === (file === undefined)) {
        command.error('error: name the applications either by their ids or with --file');
      }
      const asked = file === undefined ? ids : await readIdFile(file);
      return roles.operate((context: OperatorContext) => {
        const named = namedBy({ as }, context);
        const review = (id: ApplicationId) =>
          acting(
            named,
            (part) => reviewApplication(part, id, action, reason, reasonCode, second),
            () => ({
              act: `application ${action}${second === undefined ? '' : ' --override'}`,
              ...(second !== undefined && { target: `second operator ${second}` }),
              applicationId: id,
              reason: reason.trim(),
            }),
          );
        return ids.length === 1
          ? writeOne(io, ids[0]!, review, options)
          : writeEach(io, asked, review, options);
      });
    });
}

/** The options for a payment in spite of what the contract asks for (D46). */
function addOverride(command: Command): void {
  command
    .option(
      '--override',
      'pay out although the contract is not signed, or the applicant may still withdraw; needs --second',
    )
    .option('--second <name>', 'with --override: the second operator, who agrees', asArgument(readName));
}

type Review = (id: ApplicationId) => Promise<Reviewed>;

async function writeOne(io: Io, id: ApplicationId, review: Review, { json }: ReviewOptions): Promise<void> {
  const reviewed = await review(id);
  await (json
    ? writeJson(io, reviewedJson(id, reviewed))
    : writeOutput(io, `${reviewedText(id, reviewed)}\n`));
}

/**
 * Reviews one application after the other, each in a transaction of its own, and writes a line for each as soon as it
 * is done. A refused one does not keep the others from being reviewed; the program then ends with 1.
 */
async function writeEach(
  io: Io,
  ids: readonly ApplicationId[],
  review: Review,
  { json }: ReviewOptions,
): Promise<void> {
  // The reviews go on if the reader of the output leaves.
  const out = unheard(io);
  const results: object[] = [];
  let refused = 0;
  for (const id of ids) {
    const reviewed = await review(id).catch(refusalOf);
    if (reviewed instanceof OperatorError) refused += 1;
    if (json) results.push(reviewedJson(id, reviewed));
    else await writeOutput(out, `${reviewedText(id, reviewed)}\n`);
  }
  if (json) await writeJson(out, results);
  else await writeOutput(out, `${ids.length - refused} of ${ids.length} done.\n`);
  if (refused > 0) io.exitCode = 1;
}

/** The refusal of a review. Throws any other error, because it would meet the next application too. */
function refusalOf(error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  throw error;
}

function reviewedText(id: ApplicationId, reviewed: Reviewed | OperatorError): string {
  if (reviewed instanceof OperatorError) return `Application ${id} was not changed: ${reviewed.message}.`;
  return `Application ${id} went from ${reviewed.from} to ${reviewed.to}.`;
}

function reviewedJson(id: ApplicationId, reviewed: Reviewed | OperatorError): object {
  if (reviewed instanceof OperatorError) return { id, error: reviewed.message };
  const told = { ...reviewed, id, status: reviewed.to, second: reviewed.second ?? undefined };
  return named(told, 'id status action from to reason_code second');
}

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  for (const action of REVIEW_ACTIONS) addReview(group, cli, action);
  addFreePhone(group, cli);
}

/** `ventanilla application free-phone`. */
function addFreePhone(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'free-phone',
    'free a phone that another phone blocks: two different phones may have one blind index',
    `application free-phone 12 --phone '+57 300 123 4567' --reason "another person's phone"`,
  )
    .argument('<id>', 'the open application with the other phone', readApplicationId)
    .requiredOption(
      '--phone <number>',
      'the phone that is refused as a duplicate, with its country code; "-" reads it from standard input',
    )
    .requiredOption('--reason <text>', 'the reason, which goes into the history')
    .addOption(actorOption())
    .action((id: ApplicationId, options: { phone: string; reason: string; as?: string; json?: boolean }) =>
      roles.operate(async (context) => {
        const phone = await hiddenValue(io, options.phone);
        const { reason } = options;
        await acting(
          namedBy(options, context),
          (part) => freePhone(part, id, { phone, reason }),
          () => ({ act: 'application free-phone', applicationId: id, reason: reason.trim() }),
        );
        if (options.json) return writeJson(io, { id, freed: true });
        await writeOutput(
          io,
          `The phone is free. Application ${id} stays open and holds no phone any more.\n`,
        );
      }),
    );
}
