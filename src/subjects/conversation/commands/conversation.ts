/**
 * `ventanilla conversation`: lists and shows conversations, and does what operators do with them (docs/conversation.md,
 * "What an operator does").
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  type ConversationPlace,
  HOLDERS,
  type Holder,
  PLACES,
  STEPS,
  type Step,
} from '../../../domain/conversation/places.ts';
import type { StoredReplyFile } from '../../../domain/message/reply.ts';
import { optionalTime, withOffset } from '../../../ground/base/clock.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import {
  addReveal,
  hiddenValue,
  MASK,
  type RevealOptions,
  revealReason,
} from '../../../program/cli/reveal.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { storeOf } from '../../documents/commands/document-store.ts';
import { CLAMD } from '../../documents/settings.ts';
import { filesToSend, storeFileToSend } from '../../documents/uses/file-to-send.ts';
import { parsePayload } from '../rules/payload.ts';
import {
  actOn,
  type ConversationRow,
  giveBack,
  listConversations,
  type ShownConversation,
  type ShownInput,
  type SpeakingContext,
  sayTo,
  showConversation,
  startConversation,
} from '../uses/operate.ts';
import { speaking } from './speaking.ts';

type Operation = (
  context: SpeakingContext,
  id: ApplicationId,
  options: { readonly step?: Step },
) => Promise<ConversationRow | null>;

/** Adds the commands of the group. */
export function addConversationCommands(group: Command, cli: Cli): void {
  const handOver: Operation = (part, id) => actOn(part, id, 'hand_over');
  const close: Operation = (part, id) => actOn(part, id, 'close');
  addList(group, cli);
  addShow(group, cli);
  addAct(group, cli, 'hand-over', 'let an operator speak: the service is silent', handOver);
  addAct(group, cli, 'give-back', 'let the service go on, also after "wrong number"', (part, id, { step }) =>
    giveBack(part, id, step),
  ).addOption(
    choiceOption(
      '--step <step>',
      'the step at which the service goes on: the present one, or earlier',
      STEPS,
    ),
  );
  addSay(group, cli);
  addAct(group, cli, 'close', 'end a conversation', close);
  addAct(group, cli, 'start', 'begin a conversation of an open application', startConversation);
}

interface Filters extends ListOptions {
  readonly open?: boolean;
  readonly heldBy?: Holder;
  readonly step?: ConversationPlace;
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list conversations, newest first', 'conversation list --held-by operator')
    .option('--open', 'only those that have not ended')
    .addOption(choiceOption('--held-by <who>', 'only those that the service or an operator holds', HOLDERS))
    .addOption(choiceOption('--step <step>', 'only those at this step, or with this end', PLACES))
    .addOption(limitOption())
    .action(({ open, heldBy, step, ...options }: Filters) =>
      roles.operate(async (context) => {
        const filter = { isOpen: open === true ? true : null, heldBy: heldBy ?? null, place: step ?? null };
        await writeList(io, listConversations(context, filter), options, {
          columns: [
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'STEP', value: ({ place }) => place },
            { title: 'HELD BY', value: ({ heldBy }) => heldBy },
            { title: 'WHY', value: ({ state }) => state?.handedOver ?? null },
            { title: 'WAITS SINCE', value: ({ waitsSince }) => shortTime(waitsSince) },
            { title: 'HEARD', value: ({ heardAt }) => shortTime(heardAt) },
            { title: 'BEGAN', value: ({ beganAt }) => shortTime(beganAt) },
          ],
          json: conversationJson,
          none: 'No conversations.',
        });
      }),
    );
}

function addShow(group: Command, { roles, io }: Cli): void {
  const command = addCommand(
    group,
    'show',
    'show a conversation and what happened to it',
    'conversation show 346',
  ).argument('<application>', "the application's id", readApplicationId);
  addReveal(command).action((id: ApplicationId, options: RevealOptions & { json?: boolean }) => {
    const reason = revealReason(options, command);
    return roles.operate(async (context) => {
      if (reason !== null) {
        await noting(namedBy(options, context), { act: 'conversation show', applicationId: id, reason });
      }
      const shown = await showConversation(context, id);
      if (options.json) return writeJson(io, shownJson(shown, reason !== null));
      await writeOutput(io, `${shownText(shown, reason !== null)}\n`);
    });
  });
}

function addAct(group: Command, { roles, io }: Cli, name: string, about: string, act: Operation): Command {
  return addCommand(group, name, about, `conversation ${name} 346`)
    .argument('<application>', "the application's id", readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean; step?: Step }) =>
      roles.operate(async (context) => {
        const row = await acting(
          namedBy(options, context),
          (part) => act(speaking(roles, part), id, options),
          () => ({ act: `conversation ${name}`, applicationId: id }),
        );
        if (options.json) return writeJson(io, row && conversationJson(row));
        if (row === null) return writeOutput(io, `Messages of application ${id} go to its phone again.\n`);
        await writeOutput(
          io,
          `The conversation of application ${id} is at ${row.place}, held by the ${row.heldBy}.\n`,
        );
      }),
    );
}

/** Checks and stores a file of this machine for a person. Throws `OperatorError` if it cannot be read or sent. */
async function keptFile(cli: Cli, path: string): Promise<StoredReplyFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new OperatorError(`${path} cannot be read: ${describeError(error)}`);
  });
  const files = filesToSend(await storeOf(cli), await cli.roles.setting(CLAMD), cli.clock);
  return storeFileToSend(files, { bytes, filename: basename(path) });
}

function addSay(group: Command, cli: Cli): void {
  const { roles, io } = cli;
  addCommand(
    group,
    'say',
    'write to the person, in a conversation that an operator holds',
    'conversation say 346 -',
  )
    .argument('<application>', "the application's id", readApplicationId)
    .argument('<text>', 'up to 1000 characters; "-" reads a line of standard input')
    .option(
      '--file <path>',
      'a PDF, a JPEG or a PNG that goes with the text; then the text may be empty ("")',
    )
    .addOption(actorOption())
    .action((id: ApplicationId, given: string, options: ActorOptions & { json?: boolean; file?: string }) =>
      roles.operate(async (context) => {
        const text = await hiddenValue(io, given);
        const file = options.file === undefined ? undefined : await keptFile(cli, options.file);
        const row = await acting(
          namedBy(options, context),
          (part) => sayTo(part, id, text, file),
          () => ({ act: file ? 'conversation send-file' : 'conversation say', applicationId: id }),
        );
        if (options.json) return writeJson(io, conversationJson(row));
        await writeOutput(io, `The ${file ? 'file' : 'text'} goes to the person of application ${id}.\n`);
      }),
    );
}

// The second part: how the commands show conversations.

/** A conversation as JSON. */
function conversationJson(row: ConversationRow) {
  return named(
    {
      ...row,
      id: Number(row.id),
      step: row.place,
      handedOver: row.state?.handedOver ?? null,
      optedOut: row.state?.optedOut ?? false,
      wrongPerson: row.state?.wrongPerson ?? false,
    },
    [
      'id application_id step held_by handed_over opted_out wrong_person language turn',
      'began_at heard_at due_at waits_since ended_at',
    ],
  );
}

/** A conversation with what happened, as JSON. */
function shownJson({ row, inputs, replies, since }: ShownConversation, isRevealed: boolean) {
  return {
    ...conversationJson(row),
    key_revoked_at: optionalTime(since.keyRevokedAt),
    brand_changed: since.isBrandChanged,
    inputs: inputs.map((input) => ({
      at: withOffset(input.at),
      source: input.source,
      turn: input.turn,
      kind: input.content?.kind ?? null,
      detail: detailOf(input),
      text: textOf(input, isRevealed),
    })),
    replies: named(replies, 'turn status reason created_at sent_at delivered_at read_at'),
  };
}

/** A conversation with what happened, as text: inputs and replies by their turns. */
function shownText({ row, inputs, replies, since }: ShownConversation, isRevealed: boolean): string {
  const head = recordOf([
    ['Application', row.applicationId],
    ['Step', row.place],
    ['Held by', row.state?.handedOver ? `${row.heldBy}: ${row.state.handedOver}` : row.heldBy],
    ['Began', shortTime(row.beganAt)],
    ['Heard', shortTime(row.heardAt)],
    ['Next', row.timer && `${row.timer}, ${shortTime(row.dueAt)}`],
    ['Ended', shortTime(row.endedAt)],
    ['Phone', row.state?.wrongPerson ? "not the applicant's (wrong_person): nothing goes there" : null],
    ['Key', since.keyRevokedAt && `revoked ${shortTime(since.keyRevokedAt)}; the conversation goes on`],
    [
      'Brand',
      since.isBrandChanged ? 'changed since the conversation began, which goes on as it began' : null,
    ],
  ]);
  const lines = [
    ...inputs.map((input) => ({
      turn: input.turn ?? Number.MAX_SAFE_INTEGER,
      line: `${shortTime(input.at)}  ${input.source}: ${wordsOf(input, isRevealed)}`,
    })),
    ...replies.map(({ turn, createdAt, status, reason }) => ({
      turn: turn + 0.5,
      line: `${shortTime(createdAt)}  service: a reply, ${status}${reason === null ? '' : ` (${reason})`}`,
    })),
  ];
  return [head, '', ...lines.toSorted((a, b) => a.turn - b.turn).map(({ line }) => line)].join('\n');
}

function wordsOf(input: ShownInput, isRevealed: boolean): string {
  if (input.content === null) return 'cannot be read';
  return [input.content.kind, detailOf(input), textOf(input, isRevealed)]
    .filter((part) => part !== null)
    .join(' ');
}

/** What an input says in codes, without personal data; null: its kind says everything. */
function detailOf({ content }: ShownInput): string | null {
  if (content?.isOfOtherPhone) return 'of another phone';
  switch (content?.kind) {
    case 'tap':
      return parsePayload(content.payload)?.choice ?? 'of another message';
    case 'file':
      return content.media;
    case 'other':
      return content.what;
    case 'status':
      return content.status;
    case 'operator':
      return content.act;
    case 'withdrawal_received':
      return `of ${content.day}${content.isLate ? ', late' : ''}`;
    case 'document':
      return typeof content.fate === 'string' ? content.fate : `refused ${content.fate.refused}`;
    case 'document_decided':
      return `${content.isUsable ? 'accepted' : 'rejected'} ${content.number}`;
    case 'income':
      return content.outcome;
    case 'source_step':
      return content.step;
    case 'code':
      return content.result;
    case 'offer':
      return content.offer === null ? 'none' : null;
    case 'contract':
    case 'signed_contract':
      return content.contract === null ? 'none' : null;
    case 'schedule':
      return content.schedule === null ? 'none' : null;
    default:
      return null;
  }
}

/** What the person wrote or sent; masked if no reason was given for showing it. */
function textOf({ content }: ShownInput, isRevealed: boolean): string | null {
  if (content?.kind !== 'text' && content?.kind !== 'file') return null;
  const text = content.kind === 'text' ? content.body : content.filename;
  return text === null || isRevealed ? text : MASK;
}
