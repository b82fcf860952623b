/**
 * The command `ventanilla status`: one screen that shows whether all is well (docs/monitoring.md, "ventanilla status").
 * Writes to the streams of `Io`; `uses/status.ts` reads the store.
 */
import { type Command, Option } from 'commander';
import { openingsText } from '../../../domain/message/opening-text.ts';
import { counted } from '../../../ground/base/counted.ts';
import { version } from '../../../ground/base/version.ts';
import type { Cli } from '../../../program/cli/command.ts';
import { recordOf, shortTime, writeJson, writeOutput } from '../../../program/cli/output.ts';
import type { ConversationFacts } from '../rules/conversation-facts.ts';
import {
  type LaterFacts,
  MOST_LATER,
  type PartnerFacts,
  type ReviewFacts,
  type StoreFacts,
} from '../rules/store-facts.ts';
import { duration } from '../rules/trouble.ts';
import { sinceUpkeepS } from '../rules/troubles.ts';
import { readStatus, type Status } from '../uses/status.ts';
import { statusJson } from '../uses/status-json.ts';

const WATCH_MS = 2_000;
/** A partner with less of its quota left is shown. */
const NEARLY_USED = 0.9;
const MOST_PARTNERS = 5;
/** Clears a terminal, and begins at its top. */
const CLEAR = '\u001b[2J\u001b[H';

interface Options {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** Gives the command its options and its work. The exit code is 1 if something is wrong. */
export function fillStatus(command: Command, { roles, io, clock }: Cli): void {
  command
    .addOption(new Option('--watch', 'show it again every two seconds, until Ctrl-C').conflicts('json'))
    .action(({ json = false, watch = false }: Options) =>
      roles.observe(async (view) => {
        for (;;) {
          const status = await readStatus(view);
          io.exitCode = status.troubles.length > 0 ? 1 : 0;
          if (json) return writeJson(io, statusJson(status));
          if (watch && 'isTTY' in io.stdout && io.stdout.isTTY === true) io.stdout.write(CLEAR);
          await writeOutput(io, screenOf(status));
          if (!watch) return;
          await clock.sleep(WATCH_MS);
        }
      }),
    );
}

/** The screen: the verdict, what is wrong and for how long, and the numbers. */
function screenOf({ troubles, facts, place }: Status): string {
  const verdict = troubles.length === 0 ? 'ALL IS WELL' : `NOT WELL: ${counted(troubles.length, 'trouble')}`;
  const width = Math.max(...troubles.map(({ code }) => code.length));
  const lines = troubles.map(
    ({ code, text, since }) => `  ${code.padEnd(width)}  ${text}${standingFor(since, facts)}`,
  );
  const help = troubles.length === 0 ? [] : ['', 'docs/runbook.md says what to do.'];
  const entries = [
    ...(place === null ? [] : [['store', place] as const]),
    ...(facts === null ? [] : recordEntries(facts)),
  ];
  const record = entries.length === 0 ? [] : ['', recordOf(entries)];
  return `${[verdict, ...lines, ...help, ...record].join('\n')}\n`;
}

function standingFor(since: Date | null, facts: StoreFacts | null): string {
  if (since === null || facts === null) return '';
  return ` (for ${duration(Math.max(facts.at.getTime() - since.getTime(), 0) / 1000)})`;
}

function recordEntries(facts: StoreFacts): (readonly [label: string, value: string | null])[] {
  const { at, messages, sender, lateS, conversations, partitionsAhead, endpoints, serverVersion } = facts;
  const { replies } = conversations;
  const waiting = replies.queued + replies.sending;
  const sinceS = sinceUpkeepS(facts);
  const held = [
    ...(sender.pausedAt === null ? [] : ['paused']),
    ...(sender.brokenAt === null ? [] : ['fails']),
    ...(sender.pausedTemplates === 0 ? [] : [`${counted(sender.pausedTemplates, 'template')} paused`]),
  ];
  return [
    ['time', `${shortTime(at)}, Ventanilla ${version()}, PostgreSQL ${serverVersion}`],
    ['upkeep', sinceS === null ? 'never' : `${duration(sinceS)} ago, ${counted(facts.jobs.length, 'job')}`],
    ['partitions', `${partitionsAhead.toFixed(1)} made ahead`],
    ['messages', [...messages].map(([status, count]) => `${status} ${count}`).join(', ')],
    ['for their hour', laterLine(facts.later)],
    ['oldest due', lateS === 0 ? 'none waits' : `waits for ${duration(lateS)}`],
    ['replies', waiting === 0 ? 'none waits' : `${waiting}, the oldest for ${duration(replies.oldestS)}`],
    ['conversations', conversationsLine(conversations)],
    ['reviews', reviewLine(facts.review)],
    ['channel', held.length === 0 ? 'sends' : held.join(', ')],
    ['endpoints', endpoints.map((one) => `${one.status} ${one.endpoints}`).join(', ')],
    ['quota', quotaLine(facts.partners)],
  ];
}

/** The line about messages that wait for their hour, which are not a backlog. */
function laterLine({ messages, first, last }: LaterFacts): string {
  if (first === null || last === null) return 'none waits';
  const count = messages < MOST_LATER ? `${messages}` : `${messages} or more`;
  return `${count} queued, until ${openingsText(first, last)}`;
}

function reviewLine({ waiting, unclaimed, overdue, oldestS, unconfirmed }: ReviewFacts): string {
  const second =
    unconfirmed === 0
      ? ''
      : `; ${counted(unconfirmed, 'proposal waits', 'proposals wait')} for a second operator`;
  if (waiting === 0) return `none waits${second}`;
  const oldest = `the oldest for ${duration(oldestS)}`;
  return `${counted(waiting, 'waits', 'wait')}, ${oldest}; overdue ${overdue}, held by nobody ${unclaimed}${second}`;
}

function conversationsLine({ open, held, inputs, work }: ConversationFacts): string {
  const sum = (some: readonly { readonly conversations: number }[]) =>
    some.reduce((total, { conversations }) => total + conversations, 0);
  const tasks = work.reduce((total, { waiting }) => total + waiting, 0);
  const oldestS = Math.max(0, ...held.map((one) => one.oldestS));
  const since = held.length === 0 ? '' : `, the oldest for ${duration(oldestS)}`;
  return `${sum(open)} open, ${counted(sum(held), 'waits', 'wait')} for an operator${since}; waiting inputs ${inputs.waiting}, work ${tasks}`;
}

function quotaLine(partners: readonly PartnerFacts[]): string {
  const near = partners.flatMap(({ partner, used, dailyCap }) =>
    dailyCap !== null && used >= dailyCap * NEARLY_USED ? [`partner ${partner} ${used}/${dailyCap}`] : [],
  );
  if (near.length === 0) return 'no partner is near its cap';
  const more = near.length > MOST_PARTNERS ? `, and ${near.length - MOST_PARTNERS} more` : '';
  return `nearly used: ${near.slice(0, MOST_PARTNERS).join(', ')}${more}`;
}
