/** `ventanilla conversation`. */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { HOLDERS, type Holder, PLACES, type Place } from '../../../domain/conversation/places.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { addReveal, hiddenValue, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import {
  actOn,
  type ConversationRow,
  giveBack,
  listConversations,
  sayTo,
  showConversation,
  startConversation,
} from '../uses/operate.ts';
import { conversationJson, shownJson, shownText } from './conversation-view.ts';

type Act = (context: OperatorContext, id: ApplicationId) => Promise<ConversationRow | null>;

/** Adds the commands of the group. */
export function addConversationCommands(group: Command, cli: Cli): void {
  const handOver: Act = (part, id) => actOn(part, id, 'hand_over');
  const close: Act = (part, id) => actOn(part, id, 'close');
  addList(group, cli);
  addShow(group, cli);
  addAct(group, cli, 'hand-over', 'let an operator speak: the service is silent', handOver);
  addAct(group, cli, 'give-back', 'let the service go on, also after "wrong number"', giveBack);
  addSay(group, cli);
  addAct(group, cli, 'close', 'end a conversation', close);
  addAct(group, cli, 'start', 'begin a conversation of an open application', startConversation);
}

interface Filters extends ListOptions {
  readonly open?: boolean;
  readonly heldBy?: Holder;
  readonly step?: Place;
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
            { title: 'APPLICATION', value: ({ application_id }) => application_id },
            { title: 'STEP', value: ({ place }) => place },
            { title: 'HELD BY', value: ({ held_by }) => held_by },
            { title: 'WHY', value: ({ state }) => state?.handedOver ?? null },
            { title: 'WAITS SINCE', value: ({ waits_since }) => shortTime(waits_since) },
            { title: 'HEARD', value: ({ heard_at }) => shortTime(heard_at) },
            { title: 'BEGAN', value: ({ began_at }) => shortTime(began_at) },
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

function addAct(group: Command, { roles, io }: Cli, name: string, about: string, act: Act): void {
  addCommand(group, name, about, `conversation ${name} 346`)
    .argument('<application>', "the application's id", readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const row = await acting(
          namedBy(options, context),
          (part) => act(part, id),
          () => ({ act: `conversation ${name}`, applicationId: id }),
        );
        if (options.json) return writeJson(io, row && conversationJson(row));
        if (row === null) return writeOutput(io, `Messages of application ${id} go to its phone again.\n`);
        await writeOutput(
          io,
          `The conversation of application ${id} is at ${row.place}, held by the ${row.held_by}.\n`,
        );
      }),
    );
}

function addSay(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'say',
    'write to the person, in a conversation that an operator holds',
    'conversation say 346 -',
  )
    .argument('<application>', "the application's id", readApplicationId)
    .argument('<text>', 'up to 1000 characters; "-" reads a line of standard input')
    .addOption(actorOption())
    .action((id: ApplicationId, given: string, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const text = await hiddenValue(io, given);
        const row = await acting(
          namedBy(options, context),
          (part) => sayTo(part, id, text),
          () => ({ act: 'conversation say', applicationId: id }),
        );
        if (options.json) return writeJson(io, conversationJson(row));
        await writeOutput(io, `The text goes to the person of application ${id}.\n`);
      }),
    );
}
