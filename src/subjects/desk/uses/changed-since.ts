/**
 * Says what happened to an application since an operator looked at it, for a 412 (D48; docs/operators.md, "Proposals").
 * Reads the history and `operators`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { type LastChange, lastChangeOf } from '../../applications/sql/desk/last-event.ts';
import { readLogin } from '../sql/proposals.ts';
import { Refusal } from './refusal.ts';

/** The refusal (412) of an act that is based on an older event. It tells who did what, and when. */
export async function changedSince(session: Session, id: ApplicationId): Promise<Refusal> {
  const change = await lastChangeOf(session, id);
  if (change === null) return new Refusal(412, 'If-Match names an event that the application does not have');
  const { act, at } = change;
  const by = await actorOf(session, change);
  return new Refusal(412, `${by.login} did ${act} meanwhile: look at it again`, {
    facts: { by, act, at: withOffset(at) },
  });
}

/** Who did something; the id is null if it was no operator with an account. */
export async function actorOf(
  session: Session,
  { actor }: Pick<LastChange, 'actor'>,
): Promise<{ readonly id: number | null; readonly login: string }> {
  const id = accountOf(actor);
  return { id, login: id === null ? actor : await readLogin(session, id) };
}
