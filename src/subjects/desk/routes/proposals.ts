/**
 * Routes of proposals: decisions that can be undone for some seconds and are then applied (D48; docs/operators.md,
 * "Proposals"). The files `uses/propose*.ts` and `uses/end-proposal.ts` do the work.
 */
import type { Static } from 'typebox';
import { UNSPECIFIED } from '../../../domain/application/reason-codes.ts';
import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs, type Desk, type SpeakingDesk } from '../uses/desk-context.ts';
import { confirmProposal, declineProposal, type ProposalNow, undoProposal } from '../uses/end-proposal.ts';
import { type ProposalFacts, proposalsOf, type StoredProposal } from '../uses/list-proposals.ts';
import type { SeenMany } from '../uses/look-at-many.ts';
import type { OperatorDecision, ProposingDesk } from '../uses/propose.ts';
import { lookAtMany, type Many, proposeMany, undoMany } from '../uses/propose-many.ts';
import { proposeOne } from '../uses/propose-one.ts';
import { needsSignIn, Refusal } from '../uses/refusal.ts';
import { answered, applicationIdOf, asSeen, claimerOf } from './answered.ts';
import {
  Bulk,
  BulkLook,
  Confirmation,
  Decline,
  ListedProposal,
  LookedAt,
  type LookedAtReply,
  MadeProposal,
  NewBulk,
  NewProposal,
  type NewProposalBody,
  Proposal,
  ProposalQuery,
  Proposals,
  UndoneBulk,
} from './proposal-forms.ts';

const Nothing = form({});

/** The part of a request's session that proposals need. */
interface Asking {
  readonly operatorId: number;
  readonly isFresh: boolean;
}

/** The routes. */
export function proposalRoutes(desk: Desk & ProposingDesk): Route[] {
  return [
    ...proposingRoutes(desk),
    lookRoute(desk),
    undoManyRoute(desk),
    ...endingRoutes(desk),
    listRoute(desk),
  ];
}

function proposingRoutes(desk: Desk & ProposingDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/proposals',
      access: 'reviewer',
      needsFresh: 'for a payment',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Proposes a decision. If-Match names the last event that it was decided on: 428 without it, 412 after another event. An Idempotency-Key makes a repetition count once. To disburse needs a sign-in of the last five minutes.',
      headers: ['If-Match', 'Idempotency-Key'],
      body: NewProposal,
      reply: MadeProposal,
      run: ({ params, session, body, decidedOn, idempotencyKey }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          if (decidedOn === null) throw new Refusal(428, 'If-Match with the last event is missing');
          if (body.act === 'disburse' && !session.isFresh) throw needsSignIn();
          const decided = { id, lastEvent: decidedOn };
          const made = await proposeOne(desk, decisionOf(session, body), decided, idempotencyKey);
          return { body: inForm(MadeProposal, { ...told(made.proposal), now: made.now }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/proposals/bulk',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Proposes one decision on many applications: named ones, or those of a selection. Each has its own result. `seen` repeats what /proposals/bulk/look told to speak against it. If more speaks against it now, the answer is 409 (`changed`) with the present `look`.',
      headers: ['Idempotency-Key'],
      body: NewBulk,
      reply: Bulk,
      run: ({ session, body, idempotencyKey }) =>
        answered(async () => {
          const { applications, selection, seen, ...decision } = body;
          const against = {
            aboveAuthority: seen.above_authority,
            againstScore: seen.against_score,
            contradicted: seen.contradicted,
          };
          const many = { ...manyOf({ applications, selection }), seen: against };
          const outcomes = await asSeen(
            proposeMany(desk, decisionOf(session, decision), many, idempotencyKey),
            (now: SeenMany) => ({ look: lookedAt(now) }),
          );
          const results = outcomes.map(({ id, result, proposalId }) => ({
            id,
            result,
            proposal: proposalId,
          }));
          return { body: { proposed: results.filter(({ proposal }) => proposal !== null).length, results } };
        }),
    }),
  ];
}

function lookRoute(desk: Desk & ProposingDesk): Route {
  return route({
    method: 'POST',
    path: '/proposals/bulk/look',
    access: 'reviewer',
    failures: [404],
    summary:
      'What a decision on many would be about: totals by currency, how many are above the authority, and how many the score or the file speaks against. It proposes nothing.',
    body: BulkLook,
    reply: LookedAt,
    run: ({ session, body: { act, ...many } }) =>
      answered(async () => {
        const seen = await lookAtMany(desk, { act, makerId: session.operatorId }, manyOf(many));
        return { body: lookedAt(seen) };
      }),
  });
}

function undoManyRoute(desk: Desk): Route {
  return route({
    method: 'POST',
    path: '/proposals/bulk/undo',
    access: 'reviewer',
    summary:
      'Takes back what is still open of one’s own decision on many, which its Idempotency-Key names. Their applications wait for reviewers again. A decision that comes after its undo is refused.',
    headers: ['Idempotency-Key'],
    body: Nothing,
    reply: UndoneBulk,
    run: ({ session, idempotencyKey }) =>
      answered(async () => ({
        body: { undone: [...(await undoMany(desk, session.operatorId, idempotencyKey))] },
      })),
  });
}

function endingRoutes(desk: SpeakingDesk): Route[] {
  const second = (session: Asking) => ({
    id: session.operatorId,
    isFresh: session.isFresh,
  });
  return [
    route({
      method: 'POST',
      path: '/proposals/{id}/undo',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary: 'Takes a proposal of one’s own back, until it is applied, and claims the application.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: Proposal,
      run: ({ params, ...call }) =>
        answered(async () => ({
          body: inForm(Proposal, told(await undoProposal(desk, claimerOf(call), proposalIdOf(params.id)))),
        })),
    }),
    route({
      method: 'POST',
      path: '/proposals/{id}/confirm',
      access: 'reviewer',
      needsFresh: 'for a payment',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Confirms a proposal of another operator. `seen` stands for the `facts` that were shown. If they have changed, the answer is 409 (`changed`), and its `proposal` has the present facts. One to disburse needs a sign-in of the last five minutes.',
      body: Confirmation,
      reply: Proposal,
      run: ({ params, session, body }) =>
        answered(async () => {
          const context = actingAs(desk, session.operatorId);
          const id = proposalIdOf(params.id);
          const confirmed = await asSeen(
            confirmProposal(context, second(session), id, { seen: body.seen, terms: await desk.terms() }),
            ({ proposal, facts }: ProposalNow) => ({
              proposal: inForm(ListedProposal, listed(proposal, facts)),
            }),
          );
          return { body: inForm(Proposal, told(confirmed)) };
        }),
    }),
    route({
      method: 'POST',
      path: '/proposals/{id}/decline',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary: 'Declines a proposal of another operator with a reason; its application is free again.',
      body: Decline,
      reply: Proposal,
      run: ({ params, session, body }) =>
        answered(async () => {
          const context = actingAs(desk, session.operatorId);
          const id = proposalIdOf(params.id);
          const declined = await declineProposal(context, second(session), id, body.reason);
          return { body: inForm(Proposal, told(declined)) };
        }),
    }),
  ];
}

function listRoute(desk: SpeakingDesk): Route {
  return route({
    method: 'GET',
    path: '/proposals',
    access: 'reviewer',
    hasTag: true,
    summary:
      'The proposals of the asking operator that are open or came back, those that came back alone, those that wait for a second operator, or those of the asking operator that ended. The ETag is of the content.',
    query: ProposalQuery,
    reply: Proposals,
    run: ({ session, query, knownTags }) =>
      answered(async () => {
        const { facts, ...page } = await proposalsOf(desk, session, query);
        const proposals = page.proposals.map((one) => listed(one, facts.get(one.id) ?? null));
        return tagged(inForm(Proposals, { ...page, proposals }), knownTags);
      }),
  });
}

function decisionOf(
  { operatorId }: Asking,
  { act, reason_code = UNSPECIFIED, reason, override = false, lines = [] }: NewProposalBody,
): OperatorDecision {
  const paid = lines.map(({ value_date, ...line }) => ({ ...line, valueDate: value_date }));
  return { act, reasonCode: reason_code, reason, isOverride: override, makerId: operatorId, lines: paid };
}

function proposalIdOf(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw new Refusal(404, 'there is no such proposal');
  return Number(text);
}

function manyOf({
  applications,
  selection,
}: {
  readonly applications?: Static<typeof BulkLook>['applications'] | undefined;
  readonly selection?: string | undefined;
}): Many {
  const named = applications?.map(({ id, last_event }) => ({
    id: applicationIdOf(`${id}`),
    lastEvent: last_event,
  }));
  return { applications: named, selection };
}

function lookedAt(seen: SeenMany): LookedAtReply {
  const contradicted = seen.contradicted.map((one) => ({ ...one, reasonCode: one.code }));
  return inForm(LookedAt, { ...seen, contradicted });
}

/** What the form of a listed proposal is filled with; `facts` null: they are not told. */
export function listed(proposal: StoredProposal, facts: ProposalFacts | null) {
  if (facts === null) return told(proposal);
  const {
    evidence: { documents, income },
    ...rest
  } = facts;
  const observedIncome = income && { confirmed: income.isConfirmed, observed: income.observed };
  return { ...told(proposal), facts: { ...rest, documents, observedIncome } };
}

/** What the form of a proposal is filled with. */
function told(proposal: StoredProposal) {
  const { isOverride, maker, createdAt } = proposal;
  return { ...proposal, override: isOverride, by: maker, at: createdAt };
}
