/**
 * What the commands that move applications have in common: they take ids, or a file of ids, and a reason, and write a
 * line for each application (D34; docs/operations.md, "Reviews and leads"). Reads that file; the caller does the work.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import { codesOfOperators, type ReasonCode } from '../../../domain/application/reason-codes.ts';
import { describeError, errorCode } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, choiceOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { type Io, unheard, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Reviewed } from '../uses/applications.ts';

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

/** The texts of a command. */
interface ReviewTexts {
  readonly action: ReviewAction;
  readonly description: string;
  /** The reason and its code in the example, which may go on behind them. */
  readonly reason: string;
  readonly code: ReasonCode;
  readonly more?: string;
}

/** The options that every such command has. */
export interface ReviewOptions {
  readonly file?: string;
  readonly reason: string;
  readonly reasonCode?: ReasonCode;
  readonly as?: string;
  readonly json?: boolean;
}

/** Moves one application, and records the act. `named` is the context with the name of who acts. */
export type Review = (named: OperatorContext, id: ApplicationId) => Promise<Reviewed>;

/**
 * Adds the command. `reviewing` gets the command, its options and the number of applications before anything is done,
 * and returns what moves one.
 */
export function addReviewCommand<Options extends ReviewOptions>(
  group: Command,
  { roles, io }: Cli,
  { action, description, reason, code, more = '' }: ReviewTexts,
  reviewing: (command: Command, options: Options, count: number) => Review | Promise<Review>,
  addOptions: (command: Command) => void = () => {},
): void {
  const example = `application ${action} 12 --reason "${reason}" --reason-code ${code}${more}`;
  const command = addCommand(group, action, description, example);
  addOptions(command);
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
    .action(async (ids: readonly ApplicationId[], options: Options, command: Command) => {
      const { file, as } = options;
      if ((ids.length === 0) === (file === undefined)) {
        command.error('error: name the applications either by their ids or with --file');
      }
      const asked = file === undefined ? ids : await readIdFile(file);
      const review = await reviewing(command, options, asked.length);
      return roles.operate((context: OperatorContext) => {
        const by = namedBy({ as }, context);
        const each = (id: ApplicationId) => review(by, id);
        return ids.length === 1 ? writeOne(io, ids[0]!, each, options) : writeEach(io, asked, each, options);
      });
    });
}

type ReviewOne = (id: ApplicationId) => Promise<Reviewed>;

async function writeOne(
  io: Io,
  id: ApplicationId,
  review: ReviewOne,
  { json }: ReviewOptions,
): Promise<void> {
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
  review: ReviewOne,
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
