/**
 * When a conversation reminds, and when it ends by itself (D43; docs/conversation.md, "The flow of a brand" has the
 * hours). Pure: the caller tells the times.
 */
import type { Flow } from '../../../domain/conversation/flow.ts';
import type { Timer } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { MOST_REMINDERS, type State } from '../../../domain/conversation/state.ts';
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import { HOUR_MS } from '../../../ground/base/clock.ts';
import { waitsForStep } from './source-steps.ts';

/** The times that a timer counts from, all by the database's clock. */
export interface TimerFacts {
  /** The person's last message; null: there is none. */
  readonly heardAt: Date | null;
  /** When the conversation last changed. */
  readonly movedAt: Date;
}

/** The next timer of a conversation, and when it rings; null: the person's answer is not waited for. */
export function nextTimer(flow: Flow, state: State, facts: TimerFacts): { timer: Timer; at: Date } | null {
  if (!waitsForPerson(state)) return null;
  const { before_window_ends_hours: before, template_after_hours: template } = flow.reminders;
  const heard = facts.heardAt?.getTime() ?? null;
  const moved = facts.movedAt.getTime();
  if (before > 0 && state.reminders === 0 && heard !== null && !state.unsaid && state.place !== 'started') {
    const at = heard + WINDOW_MS - before * HOUR_MS;
    // A question that is asked late in the window needs no reminder within the window.
    if (at > moved) return { timer: 'remind', at: new Date(at) };
  }
  if (template > 0 && state.reminders < MOST_REMINDERS) {
    const at = state.unsaid || heard === null ? moved : heard + template * HOUR_MS;
    return { timer: 'template', at: new Date(Math.max(at, moved)) };
  }
  const since = Math.max(heard ?? moved, moved);
  return { timer: 'expire', at: new Date(since + flow.limits.expire_after_hours * HOUR_MS) };
}

/** `elapsed` is updated once a minute, so it is behind by a minute or two. */
const BEHIND_MS = 120_000;

/**
 * How long a ringing timer still has to wait, in milliseconds. A conversation expires only if the elapsed time has
 * passed too (D39), so a clock that leaps ends none. `timerMs`: what the timer was set to. `waitedMs`: the elapsed time
 * since then; null: it is not known.
 */
export function restOfExpiry(timer: Timer, timerMs: number, waitedMs: number | null): number {
  if (timer !== 'expire' || waitedMs === null) return 0;
  const restMs = timerMs - waitedMs;
  return restMs <= BEHIND_MS ? 0 : restMs;
}

/** Whether the next move is the person's. */
function waitsForPerson(state: State): boolean {
  if (state.heldBy === 'operator' || state.optedOut || isEnd(state.place)) return false;
  if (state.unsaid) return true;
  switch (state.place) {
    case 'earnings':
    case 'debts':
      return !state.complete;
    case 'checking':
      return waitsForStep(state);
    case 'summary':
      return state.offerShown;
    case 'contract':
      return state.shownContract !== null;
    case 'code':
      return state.proof === 'none' || state.proof === 'code_sent';
    default:
      return true;
  }
}
