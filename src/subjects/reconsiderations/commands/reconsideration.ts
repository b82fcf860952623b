/**
 * `ventanilla reconsideration`: lists and answers what persons ask a person for (docs/reconsiderations.md, "The
 * queue").
 */
import { type Command, Option } from 'commander';
import { CASE_KINDS, type CaseKind, type CaseOutcome } from '../../../domain/application/cases.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { answerCase, listCases, type ShownCase, showCase, type Unreached } from '../uses/cases.ts';

/** Adds the commands of the group. */
export function addReconsiderationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addAnswer(group, cli);
}

interface Filters extends ListOptions {
  readonly kind?: CaseKind;
  readonly answered?: boolean;
}

const CASE = 'id kind application asked_at due_at outcome answered_at answered_by told chat_is_open answer';

function caseJson(one: ShownCase) {
  return {
    ...named({ ...one, application: one.applicationId, told: one.toldStatus }, CASE),
    partner: one.partner,
    reasons: one.reasons.map(({ code, words }) => ({ code, text: words.en })),
  };
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'list',
    'list what waits for an answer, the shortest term first',
    'reconsideration list --kind reconsideration',
  )
    .addOption(
      choiceOption('--kind <kind>', 'only reviews of refusals, or only requests for data', CASE_KINDS),
    )
    .option('--answered', 'those that are answered, the newest answer first')
    .addOption(limitOption())
    .action(({ kind, answered, ...options }: Filters) =>
      roles.operate(async (context) => {
        const filter = { isOpen: answered !== true, kind: kind ?? null };
        await writeList(io, pages(context, filter), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'KIND', value: (one) => one.kind },
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'ASKED', value: ({ askedAt }) => shortTime(askedAt) },
            { title: 'DUE', value: ({ dueAt }) => shortTime(dueAt) },
            { title: 'OUTCOME', value: ({ outcome }) => outcome },
            { title: 'REASONS', value: ({ reasons }) => reasons.map(({ code }) => code).join(', ') || null },
          ],
          json: caseJson,
          none: 'Nobody waits for an answer.',
        });
      }),
    );
}

const PAGE = 200;

async function* pages(
  context: OperatorContext,
  filter: { readonly isOpen: boolean; readonly kind: CaseKind | null },
): AsyncGenerator<ShownCase, void, undefined> {
  for (let after: Parameters<typeof listCases>[2] = null; ; ) {
    const { cases, next } = await listCases(context, filter, after, PAGE);
    yield* cases;
    if (next === null) return;
    after = next;
  }
}

interface AnswerOptions extends ActorOptions {
  readonly json?: boolean;
  readonly confirmed?: string;
  readonly applyAgain?: string;
  readonly answered?: string;
}

const WAYS = [
  ['confirmed', 'confirmed'],
  ['applyAgain', 'apply_again'],
  ['answered', 'answered'],
] as const satisfies readonly (readonly [keyof AnswerOptions, CaseOutcome])[];

function addAnswer(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'answer',
    'answer one; the applicant reads the text in the chat',
    'reconsideration answer 7 --confirmed "The three debts are still overdue"',
  )
    .argument('<id>', 'the id of the list', asArgument(readCaseId))
    .addOption(new Option('--confirmed <reason>', 'the refusal stands: why'))
    .addOption(new Option('--apply-again <note>', 'the applicant may apply again: with what'))
    .addOption(new Option('--answered <text>', 'a request for data: what the person gets, and how'))
    .addOption(actorOption())
    .action((id: number, options: AnswerOptions) =>
      roles.operate(async (context) => {
        const given = WAYS.flatMap(([option, outcome]) => {
          const text = options[option];
          return text === undefined ? [] : [{ outcome, text }];
        });
        const [only] = given;
        if (only === undefined || given.length > 1)
          throw new OperatorError('give one of --confirmed, --apply-again and --answered');
        const done = await answerCase(namedBy(options, context), id, only);
        if (done.kind === 'gone') throw new OperatorError(`there is no case ${id}`);
        if (done.kind === 'other')
          throw new OperatorError(`case ${id} is answered already: ${done.found.outcome}`);
        if (options.json) {
          const now = await showCase(context, id);
          return writeJson(io, { ...(now && caseJson(now)), unreached: done.unreached });
        }
        await writeOutput(
          io,
          done.unreached === null
            ? 'Answered. The chat tells the applicant.\n'
            : `Answered. ${NOT_TOLD[done.unreached]}\n`,
        );
      }),
    );
}

const NOT_TOLD: Readonly<Record<Unreached, string>> = {
  window_closed:
    'The chat cannot tell it now, because the person last wrote more than 24 hours ago. It does when the person writes again; use another way to be sure.',
  suppressed: 'The person wants no messages: tell it by another way.',
  wrong_person: "The phone is not the applicant's: tell it by another way.",
  unreadable: 'The phone of the applicant cannot be read: tell it by another way.',
};

function readCaseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new OperatorError('the id must be a whole number from the list');
  return Number(text);
}
