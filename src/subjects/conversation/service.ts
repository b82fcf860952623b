/**
 * What `serve` and `worker` run for conversations: the loops of turns, of work and of the sweep, and the upkeep jobs
 * (docs/conversation.md; docs/upkeep.md has the jobs).
 */
import { termsIn } from '../../domain/conversation/consent.ts';
import type { Country } from '../../ground/base/country-data.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import { eachApart } from '../../ground/postgres/row-fault.ts';
import { startQueue } from '../../program/queue/queue.ts';
import { startLoop } from '../../program/subject/loop.ts';
import type { Loop, LoopContext, Service, ServiceContext } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { howRead, openDocuments } from '../documents/open.ts';
import { openIncome } from '../income/open.ts';
import { openReminderWindow } from '../messages/open.ts';
import { openSigning, signingFiles } from '../signing/open.ts';
import { CONVERSATION_DAYS } from './settings.ts';
import { forgetFlows } from './sql/flows.ts';
import { INPUT_BELL } from './sql/inputs.ts';
import { eraseConversations, mendConversations } from './sql/retention.ts';
import type { WorkKind } from './sql/work.ts';
import { WORK_BELL } from './sql/work.ts';
import { hearMessages } from './uses/hear.ts';
import { performerOf, signingOf } from './uses/neighbours.ts';
import { type RoundPlace, sweepConversations } from './uses/sweep.ts';
import { stampChats, trimConversations, trimStrangers } from './uses/trim.ts';
import { type TakenTogether, takeTurns } from './uses/turns.ts';
import { beginDue, MOST_AT_ONCE, type WorkContext } from './uses/work.ts';

// The loops: turns, the work beside them, and the sweep for what changed elsewhere.

/** How often a process looks for what another process has stored from the channel. */
const LOOK_MS = 250;
const SWEEP_MS = 2_000;
const LONGEST_SWEEP_MS = 10_000;

/**
 * The loop of turns: one transaction after the other, as long as there is something to do. Rejects if the contact
 * windows are refused.
 */
async function startTurns(given: LoopContext): Promise<Loop> {
  const { database, vault, clock, log, failed, watcher, setting } = given;
  const { terms } = await signingFiles(given, setting);
  const context = {
    database,
    vault,
    clock,
    signing: signingOf(vault),
    flows: new Map(),
    termsOf: (country: Country | null) => termsIn(terms.value)(country),
    mayRemind: await openReminderWindow(given),
    onFault: (conversation: string, error: unknown) =>
      log.error({ conversation, error: errorFields(error) }, UNREADABLE),
    onTaken: ({ results, reminders, tookMs }: TakenTogether) =>
      watcher.tookTurns({
        turns: results.length,
        reminders,
        tookMs,
        events: results.flatMap(({ told }) => told),
      }),
  };
  return startLoop({
    clock,
    turn: async ({ stopping }) => {
      if ((await takeTurns(context)) === 0) await INPUT_BELL.wait(clock, LOOK_MS, stopping);
    },
    onError: (error) => {
      watcher.turnsFailed();
      failed('a turn of the conversations', error);
    },
  });
}

const UNREADABLE = 'a conversation goes to an operator: its rows cannot be read';

/** The loop of work beside the turns, without files. Rejects if a setting of documents or contracts is refused. */
function startWork(given: LoopContext): Promise<Loop> {
  return startWorkOf('others', given);
}

/** The loop that fetches and reads files. Rejects as `startWork`. */
async function startReading(given: LoopContext): Promise<Loop> {
  // The start does not wait for the trial process of the reader.
  void howRead(given.setting, given.clock).then(({ reader, told }) => {
    // For a demonstration the welcome text says this.
    if (told !== null && reader !== 'demonstration') given.log[reader === 'off' ? 'error' : 'warn'](told);
  });
  return startWorkOf('files', given);
}

async function startWorkOf(kind: WorkKind, given: LoopContext): Promise<Loop> {
  const { database, vault, clock, log, failed, setting, channel, watcher } = given;
  const documents = await openDocuments(setting, { database, vault, clock, channel, watcher });
  const income = openIncome(setting, { database, vault, clock });
  const signing = await openSigning(setting, {
    database,
    vault,
    clock,
    log,
    channel,
    onCode: (way, result) => watcher.sentCode(way, result),
  });
  const context: WorkContext = {
    database,
    vault,
    clock,
    performer: performerOf({ documents, income, signing, channel }),
    onFailure: ({ work, applicationId }, error, isLast) =>
      log[isLast ? 'error' : 'warn'](
        {
          work,
          application_id: applicationId,
          ...(typeof error === 'string' ? { reason: error } : { error: errorFields(error) }),
        },
        isLast
          ? 'work of a conversation failed for good: an operator has to look'
          : 'work of a conversation failed, and is tried again',
      ),
    onTried: ({ work }, result, tookMs) => watcher.worked(work, result, tookMs),
  };
  return workLoop(kind, context, failed);
}

/**
 * A loop that does work of one kind. A round does not wait for its work to end, so that one slow file does not delay
 * the others.
 */
export function workLoop(kind: WorkKind, context: WorkContext, failed: LoopContext['failed']): Loop {
  return startQueue({
    clock: context.clock,
    begin: (turn) => beginDue(context, kind, turn),
    most: MOST_AT_ONCE[kind],
    onError: (error) => failed('the work of the conversations', error),
    bell: WORK_BELL,
    isLeftAtCut: true,
  });
}

/** The loop that looks for changed statuses of applications, and for opt-outs from anywhere. */
function startSweep({ database, vault, clock, failed }: LoopContext): Loop {
  let after: RoundPlace = null;
  return startLoop({
    clock,
    turn: async ({ pause }) => {
      const begunMs = clock.monotonicMs();
      ({ after } = await sweepConversations({ database, vault }, after));
      // A slow look means that the database is busy, so the rest is longer. A look reaches back further than the
      // longest rest.
      const restMs = 10 * (clock.monotonicMs() - begunMs);
      await pause(Math.min(Math.max(SWEEP_MS, restMs), LONGEST_SWEEP_MS));
    },
    onError: (error) => failed('the look at applications with conversations', error),
  });
}

/** The loops and jobs of one process. One job remembers where it goes on. */
export const conversationService = (): Service => ({
  upkeep: [
    { name: 'mend times of conversations', run: ({ database }) => mendConversations(database) },
    {
      name: 'forget conversations',
      seldom: true,
      run: following([
        { table: 'conversations', forget: (session, gone) => eraseConversations(session, gone, []) },
      ]),
    },
    { name: 'forget chats', seldom: true, run: forgetChats },
    { name: 'forget flows', seldom: true, run: ({ database }) => forgetFlows(database) },
  ],
  loops: [startTurns, startWork, startReading, startSweep],
  hear: async ({ database, vault, log }, heard) => {
    await eachApart(
      heard,
      async (some) => {
        const onLookUpFault = (error: unknown) =>
          log.error({ error: errorFields(error) }, 'the applications of a phone cannot be looked up');
        const { beyond, notices, ...counts } = await hearMessages({ database, vault, onLookUpFault }, some);
        if (counts.begun + counts.strangers > 0) log.info(counts, 'messages of persons');
        for (const { applicationId, did } of notices) {
          log[did === 'wrong_person' ? 'warn' : 'info'](
            { application_id: applicationId, did },
            'a person without a conversation wrote about an application',
          );
        }
        for (const [id, messages] of beyond) {
          log.warn({ application_id: id, messages }, 'too many messages of a person in an hour: not stored');
        }
      },
      ({ event }, error) =>
        log.error({ event: event.kind, error: errorFields(error) }, 'a message of a person cannot be stored'),
    );
    return [];
  },
});

async function forgetChats({ database, log, setting }: ServiceContext): Promise<void> {
  await stampChats(database);
  const days = setting(CONVERSATION_DAYS);
  if (days === null) return;
  const conversations = await trimConversations(database, days);
  if (conversations > 0) log.info({ conversations }, 'deleted the chats of conversations that ended');
  const answers = await trimStrangers(database, days);
  if (answers > 0) log.info({ answers }, 'deleted answers to persons without a conversation');
}
