/**
 * Puts together what happened to an application, and who did it: its history, its pends, its signature, and the
 * proposals that were declined or came back (D34, D46, D48; docs/operators.md, "One application"). Reads the
 * logins of `operators`; the rest is given to it.
 */
import type { ApplicationStatus, ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { loginsOf } from '../../../program/operations/sql/logins.ts';
import type { ActorWay, ExplainedApplication } from '../../messages/uses/explained-application.ts';
import type { Missing, PendEnd } from '../rules/pend.ts';
import type { ReturnCode } from '../rules/returned.ts';
import type { StoredPend } from '../sql/pends.ts';
import type { StoredProposal } from '../sql/proposals.ts';

type History = ExplainedApplication['history'][number];

/** Who did something. The id is null if it was no operator with an account. */
export interface Actor {
  readonly way: ActorWay;
  readonly id: number | null;
  readonly login: string;
}

export interface TimelineEntry {
  readonly at: Date;
  readonly by: Actor;
  readonly act: History['action'] | 'sign' | 'pend' | 'pend_end' | 'decline' | 'return';
  readonly from: ApplicationStatus | null;
  readonly to: ApplicationStatus | null;
  readonly reason: string;
  readonly reasonCode: History['reasonCode'];
  readonly second: Actor | null;
  /** What a pend waits for, or waited for; null for other acts. */
  readonly missing: readonly Missing[] | null;
  /** How a pend ended; null for other acts. */
  readonly end: PendEnd | null;
  /** The decision that was declined or came back; null for other acts. */
  readonly proposal: {
    readonly act: ReviewAction;
    readonly maker: Actor;
    /** null: it was declined. */
    readonly returnedFor: ReturnCode | null;
  } | null;
}

const PLAIN = {
  from: null,
  to: null,
  reason: '',
  reasonCode: null,
  second: null,
  missing: null,
  end: null,
  proposal: null,
};
const APPLICANT: Actor = { way: 'applicant', id: null, login: 'applicant' };
const SERVICE: Actor = { way: 'service', id: null, login: 'ventanilla' };

/** Everything that happened, oldest first, with the present logins of operators. */
export async function timelineOf(
  session: Session,
  { history, signedAt }: ExplainedApplication,
  pends: readonly StoredPend[],
  refused: readonly StoredProposal[],
): Promise<TimelineEntry[]> {
  const names = history.flatMap(({ actor, second }) => (second === null ? [actor] : [actor, second]));
  const logins = await loginsOf(session, names);
  const actor = (name: string, way: ActorWay): Actor => ({
    ...{ way, id: accountOf(name) },
    login: logins.get(name) ?? name,
  });
  const events = history.map(
    ({ action, way, actor: name, second, ...event }): TimelineEntry => ({
      ...PLAIN,
      ...event,
      act: action,
      by: actor(name, way),
      second: second === null ? null : actor(second, way),
    }),
  );
  const signature: TimelineEntry[] =
    signedAt === null ? [] : [{ ...PLAIN, at: signedAt, by: APPLICANT, act: 'sign' }];
  return merge(events, [...pends.flatMap(entriesOf), ...refused.map(refusalOf), ...signature]);
}

const operator = (account: StoredPend['by']): Actor => ({ way: 'operator', ...account });

/** A proposal that was declined or came back. */
function refusalOf({
  state,
  act,
  maker,
  second,
  endedAt,
  createdAt,
  ...rest
}: StoredProposal): TimelineEntry {
  const checker = second && operator(second);
  const isDeclined = state === 'declined';
  return {
    ...PLAIN,
    at: endedAt ?? createdAt,
    act: isDeclined ? 'decline' : 'return',
    by: (isDeclined ? checker : null) ?? SERVICE,
    second: isDeclined ? null : checker,
    reason: rest.outcome ?? '',
    proposal: { act, maker: operator(maker), returnedFor: rest.returnedFor },
  };
}

/** The beginning of a pend, and its end if it has ended. */
function entriesOf({ by, at, missing, endedAt, end, resumedBy }: StoredPend): TimelineEntry[] {
  const begun: TimelineEntry = { ...PLAIN, at, by: operator(by), act: 'pend', missing };
  if (endedAt === null) return [begun];
  const who = resumedBy !== null ? operator(resumedBy) : end === 'answered' ? APPLICANT : SERVICE;
  return [begun, { ...PLAIN, at: endedAt, by: who, act: 'pend_end', missing, end }];
}

/** Puts each of `others` before the first event that is later. The events keep their order, whatever their times. */
function merge(events: readonly TimelineEntry[], others: readonly TimelineEntry[]): TimelineEntry[] {
  const waiting = others.toSorted((a, b) => Number(a.at) - Number(b.at));
  const merged: TimelineEntry[] = [];
  for (const event of events) {
    while (waiting[0] !== undefined && waiting[0].at < event.at) merged.push(waiting.shift()!);
    merged.push(event);
  }
  return [...merged, ...waiting];
}
