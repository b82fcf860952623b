/** A desk on which operators decide: a console with the routes of proposals, and applications that wait for them. */
import assert from 'node:assert/strict';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import type { Role } from '../../src/domain/operator/authority.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { proposalRoutes } from '../../src/subjects/desk/routes/proposals.ts';
import { expandReviews } from '../../src/subjects/desk/sql/expansion.ts';
import { moveByLeap } from '../../src/subjects/desk/sql/proposal-times.ts';
import { type Applied, applyNext } from '../../src/subjects/desk/uses/apply-proposals.ts';
import type { LookingDesk } from '../../src/subjects/desk/uses/second-looks.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from './applicant.ts';
import { setAuthority } from './authority.ts';
import { startTestConsole, type Visitor } from './console.ts';
import type { TestDatabase } from './database.ts';
import { registrarOf } from './intake.ts';
import { untilDone } from './until-done.ts';

/** An amount that every application of the tests is below. */
const MUCH = 10n ** 14n;

interface DeskOptions {
  readonly undoSeconds?: number;
  /** SECOND_LOOK_SHARE; 0: nothing is drawn. */
  readonly lookShare?: number;
  /** More routes. */
  readonly more?: (desk: LookingDesk) => Route[];
}

const HOUR_MS = 3_600_000;

/** `seen` of a decision on many whose look told that everything speaks against it. */
export const ALL_AGAINST = { above_authority: 10_000, against_score: 10_000, contradicted: 10_000 };

/** Moves the times of all that is open, with their MACs: by minus so much, so much of them has passed. */
export async function moveOpen(
  { database, vault }: Pick<TestDatabase, 'database' | 'vault'>,
  ms: number,
): Promise<void> {
  // A `Date` has no parts of a millisecond: what was stamped just now is before the next one.
  const nextMs = (await databaseTime(database)).getTime() + 1;
  await moveByLeap(database, vault, new Date(nextMs), ms);
}

/** The time to undo is over for what is open now. What waits for a second operator has an hour less of its days. */
export async function makeProposalsDue({
  database,
  vault,
}: Pick<TestDatabase, 'database' | 'vault'>): Promise<void> {
  await moveOpen({ database, vault }, -HOUR_MS);
}

/** What the list of the visitor shows of a proposal; a word that stands for nothing where it is not in the list. */
export async function seenBy(visitor: Visitor, proposal: number): Promise<string> {
  const { body } = await visitor.ask('GET', '/api/proposals?list=to_confirm&limit=100');
  const listed = (body?.proposals ?? []) as { id: number; facts: { seen: string } }[];
  return listed.find(({ id }) => id === proposal)?.facts.seen ?? 'nothing';
}

/** Starts the desk. Nothing is applied by itself: `UNDO_SECONDS` is 600, and `applyAll` makes what is open due. */
export async function proposalDesk(
  store: TestDatabase,
  { undoSeconds = 600, lookShare = 0, more = () => [] }: DeskOptions = {},
) {
  const { database, runtime, vault } = store;
  const { json, run } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const ingest = await registrarOf(store);
  const desk = {
    database: runtime,
    vault,
    clock: machineClock,
    undoSeconds,
    lookShare,
    dueHours: 24,
    terms: async () => null,
  };
  const routes = [...applicationRoutes(desk), ...proposalRoutes(desk), ...more(desk)];
  const site = await startTestConsole(store, routes);
  let phones = 3_000_000_000;

  /** Registers applications with phones of their own, which wait for a review. */
  const register = async (count = 1, changes: Parameters<typeof applicant>[0] = {}) => {
    const some = Array.from({ length: count }, () => {
      phones += 1;
      return applicant({ phone: toPhone(`+57${phones}`), ...IN_REVIEW, ...changes });
    });
    const ids = await ingest(key, some);
    await untilDone(async () => (await expandReviews(database, '0', 20, 24)).batches === 0);
    return ids as ApplicationId[];
  };
  /** An operator who decides on everything in pesos alone, unless `hundredths` say otherwise. */
  const operator = async (login: string, role: Role = 'reviewer', hundredths: bigint | null = MUCH) => {
    const enrolled = await site.enrolled(login, role);
    if (hundredths !== null) await setAuthority(database, vault, enrolled.id, new Map([['COP', hundredths]]));
    return { ...enrolled, visitor: await enrolled.signIn() };
  };
  const lastEvent = async (id: number) =>
    (
      await database.query<{ last: string }>(
        'SELECT coalesce(max(id), 0)::text AS last FROM application_events WHERE application_id = $1',
        [id],
      )
    ).rows[0]!.last;
  const propose = async (
    visitor: Visitor,
    id: number,
    body: object = { act: 'approve', reason: 'fine' },
    headers: Record<string, string> = {},
  ) =>
    visitor.ask('POST', `/api/applications/${id}/proposals`, body, {
      'If-Match': `"${await lastEvent(id)}"`,
      ...headers,
    });
  /** Proposes, and expects that it is taken. */
  const proposed = async (...args: Parameters<typeof propose>) => {
    const { status, body } = await propose(...args);
    assert.equal(status, 200, JSON.stringify(body));
    return body as { id: number; application_id: number; needs_second: string | null; state: string };
  };
  const act = async (
    visitor: Visitor,
    proposal: number,
    what: 'undo' | 'confirm' | 'decline',
    body?: object,
  ) =>
    visitor.ask(
      'POST',
      `/api/proposals/${proposal}/${what}`,
      body ?? (what === 'confirm' ? { seen: await seenBy(visitor, proposal) } : {}),
    );
  const makeDue = () => makeProposalsDue(store);
  const failures: unknown[] = [];
  const applyOne = (): Promise<Applied> => applyNext(desk, (_id, error) => failures.push(error));
  /** Applies everything that is open and decided. */
  const applyAll = async () => {
    await makeDue();
    const ends: Applied[] = [];
    for (let one = await applyOne(); one !== null; one = await applyOne()) ends.push(one);
    return ends;
  };
  const proposal = async (visitor: Visitor, id: number) =>
    (await visitor.ask('GET', `/api/applications/${id}`)).body.proposal;
  const statusOf = async (id: number): Promise<string> => (await json('application', 'show', `${id}`)).status;
  return {
    ...{ json, run, key, site, desk, register, operator, lastEvent, propose, proposed, act },
    ...{ makeDue, applyOne, applyAll, failures, proposal, statusOf },
  };
}
