/**
 * Routes of one application at the console: its page, and the reveal of personal data (docs/operators.md, "One
 * application"). `uses/show-application.ts` and `uses/reveal.ts` read it.
 */
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { CRITERIA, MAX_POINTS } from '../../../domain/scorecard/scorecard.ts';
import { optionalTime, withOffset } from '../../../ground/base/clock.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { contradictedCodes } from '../rules/against.ts';
import { endOf, initialsOf } from '../rules/mask.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { keyedRequest } from '../uses/note-reveal.ts';
import { noApplication } from '../uses/refusal.ts';
import { type RevealedApplication, reveal } from '../uses/reveal.ts';
import { type Actor, lastEventOf, readForPage, type ShownApplication } from '../uses/show-application.ts';
import { answered, applicationIdOf, reasonOf } from './answered.ts';
import { Application, type ApplicationReply, Revealed, type RevealedReply, RevealReason } from './forms.ts';
import { noteJson } from './notes.ts';
import { pendJson } from './pend.ts';
import { listedJson } from './proposals.ts';
import { claimJson } from './queue-json.ts';

/** The routes, which show what `readForPage` and `reveal` read. */
export function applicationRoutes(desk: Desk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/applications/{id}',
      access: 'viewer',
      failures: [404],
      hasTag: true,
      summary: 'One application without personal data. The ETag is its last event.',
      reply: Application,
      run: ({ params, session, knownTags }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          const tag = await lastEventOf(desk.database, id);
          if (tag !== null && knownTags.includes(tag)) return { status: 304, body: null, tag };
          if (tag === null) throw noApplication();
          const { operatorId } = session;
          const shown = await readForPage(actingAs(desk, operatorId), operatorId, { id, lastEvent: tag });
          return { body: applicationJson(shown), tag: shown.lastEvent };
        }),
    }),
    route({
      method: 'POST',
      path: '/applications/{id}/reveal',
      access: 'reviewer',
      failures: [404],
      summary: 'The personal data of one application. The reading and its reason are recorded first.',
      headers: ['Idempotency-Key'],
      body: RevealReason,
      reply: Revealed,
      run: ({ params, session, body, idempotencyKey }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          if ((await lastEventOf(desk.database, id)) === null) throw noApplication();
          const [by, reason] = [session.operatorId, reasonOf(body.reason)];
          const request = keyedRequest(by, idempotencyKey, ['reveal', id, reason]);
          const shown = await reveal(actingAs(desk, by), id, { reason, request });
          return { body: revealedJson(shown) };
        }),
    }),
  ];
}

function revealedJson({ fields, messages, chat, income }: RevealedApplication): RevealedReply {
  const text = (name: 'name' | 'phone' | 'id_number' | 'city') => fields[name] as string | null;
  return {
    name: text('name'),
    phone: text('phone'),
    id_number: text('id_number'),
    city: text('city'),
    messages: messages.map(({ choices, ...message }) => ({ ...message, choices: [...choices] })),
    chat: chat.map(({ at, choices, ...line }) => ({ at: withOffset(at), ...line, choices: [...choices] })),
    income:
      income?.map(({ source, currency, months }) => ({
        source,
        currency,
        months: months.map(({ month, amount }) => ({ month, amount: amount / 100 })),
      })) ?? null,
  };
}

// Second part: an application in the form of its page. Personal data is masked here, and no sealed value is in it.

type Text = string | null;

/** The whole reply. */
function applicationJson(shown: ShownApplication): ApplicationReply {
  const { application, lastEvent, earlier } = shown;
  const { id, partner, status, decision, score, fields, points } = application;
  return {
    id,
    last_event: lastEvent,
    created_at: withOffset(application.createdAt),
    partner,
    status,
    decision,
    score,
    policy_version: application.policyVersion,
    criteria: CRITERIA.map((criterion) => {
      const most = MAX_POINTS[criterion];
      const got = decision === null ? null : (points[criterion] ?? null);
      return { criterion, points: got, most, lost: got === null ? null : most - got };
    }),
    above_limit: application.aboveLimit,
    platform: fields.platform as Text,
    currency: fields.currency as Text,
    income: fields.income as number | null,
    debt_amount: fields.debt_amount as number | null,
    num_debts: fields.num_debts as Text,
    debt_age: fields.debt_age as Text,
    prior_history: fields.prior_history as Text,
    messaging_optin: fields.messaging_optin as boolean | null,
    interested_at: optionalTime(application.interestedAt),
    signed_at: optionalTime(application.signedAt),
    withdrawable_until: optionalTime(application.withdrawableUntil),
    payment_held_by: application.status === 'pending_signature' ? shown.heldBy : null,
    offer: offerJson(shown),
    person: personJson(shown),
    earlier: {
      same_phone: earlierJson(earlier.samePhone),
      same_id_number: earlierJson(earlier.sameIdNumber),
    },
    chat: {
      messages: messagesJson(shown),
      conversation: conversationJson(shown),
      takes_text: shown.takesText,
    },
    documents: documentsJson(shown),
    observed_income: incomeJson(shown),
    timeline: timelineJson(shown),
    notes: shown.notes.map(noteJson),
    review: reviewJson(shown),
    proposal: shown.proposal && listedJson(shown.proposal, shown.proposalFacts),
    contradicted: REVIEW_ACTIONS.flatMap((act) =>
      contradictedCodes(act, shown.evidence).map(({ code, why }) => ({ reason_code: code, why })),
    ),
  };
}

function personJson({ application: { fields, fault } }: ShownApplication): ApplicationReply['person'] {
  return {
    initials: initialsOf(fields.name as Text),
    phone: endOf(fields.phone as Text),
    id_number: endOf(fields.id_number as Text),
    city: fields.city === null ? null : '***',
    fault,
  };
}

function offerJson({ contract }: ShownApplication): ApplicationReply['offer'] {
  if (contract === null || contract.state === 'making' || contract.state === 'expired') return null;
  const { amount, currency, installment, months, total } = contract.terms.offer;
  const { state, expiresAt } = contract;
  return { state, amount, currency, installment, months, total, expires_at: withOffset(expiresAt) };
}

function earlierJson({
  count,
  applications,
}: ShownApplication['earlier']['samePhone']): ApplicationReply['earlier']['same_phone'] {
  return {
    count,
    applications: applications.map(({ id, partner, status, signedAt, createdAt }) => ({
      id,
      partner,
      status,
      signed_at: optionalTime(signedAt),
      created_at: withOffset(createdAt),
    })),
  };
}

function messagesJson({ application }: ShownApplication): ApplicationReply['chat']['messages'] {
  return application.messages.map(({ id, type, status, reason, createdAt, changedAt }) => ({
    id,
    type,
    status,
    reason,
    created_at: withOffset(createdAt),
    changed_at: withOffset(changedAt),
  }));
}

function conversationJson({ conversation }: ShownApplication): ApplicationReply['chat']['conversation'] {
  if (conversation === null) return null;
  const { row, inputs, replies } = conversation;
  return {
    step: row.place,
    held_by: row.held_by,
    began_at: withOffset(row.began_at),
    ended_at: optionalTime(row.ended_at),
    inputs: inputs.map(({ at, source, turn, content }) => ({
      at: withOffset(at),
      source,
      turn,
      kind: content?.kind ?? null,
    })),
    replies: replies.map(({ turn, status, reason, createdAt, sentAt, deliveredAt, readAt }) => ({
      turn,
      status,
      reason,
      created_at: withOffset(createdAt),
      sent_at: optionalTime(sentAt),
      delivered_at: optionalTime(deliveredAt),
      read_at: optionalTime(readAt),
    })),
  };
}

function documentsJson({ documents }: ShownApplication): ApplicationReply['documents'] {
  return documents.map(
    ({ id, sha256, purpose, contentType, state, reason, bytes, receivedAt, decidedAt }) => ({
      id,
      sha256,
      purpose,
      content_type: contentType,
      state,
      reason,
      bytes,
      received_at: withOffset(receivedAt),
      decided_at: optionalTime(decidedAt),
    }),
  );
}

function incomeJson({ income }: ShownApplication): ApplicationReply['observed_income'] {
  if (income === null) return null;
  const { outcome, reason, currency, declared, observed, months, confidence } = income;
  return {
    checked_at: withOffset(income.checkedAt),
    outcome,
    reason,
    currency,
    declared: inUnits(declared),
    observed: inUnits(observed),
    months,
    confidence,
    new_score: income.newScore,
    new_decision: income.newDecision,
  };
}

/** An income in units of the currency. Incomes are stored in whole hundredths. */
function inUnits(hundredths: number | null): number | null {
  return hundredths === null ? null : hundredths / 100;
}

function reviewJson({ item, pends }: ShownApplication): Exclude<ApplicationReply['review'], undefined> {
  if (item === null) return null;
  const claim = item.claim && claimJson(item.claim);
  const open = pends.findLast(({ endedAt }) => endedAt === null);
  const pend = open === undefined ? null : pendJson(open);
  return { state: item.state, due_at: optionalTime(item.dueAt), claim, pend };
}

function timelineJson({ timeline }: ShownApplication): ApplicationReply['timeline'] {
  return timeline.map(({ at, by, act, from, to, reason, reasonCode, second, missing, end, proposal }) => ({
    at: withOffset(at),
    by: actorJson(by),
    act,
    from,
    to,
    reason,
    reason_code: reasonCode,
    second: second && actorJson(second),
    missing: missing && [...missing],
    end,
    proposal: proposal && {
      act: proposal.act,
      maker: actorJson(proposal.maker),
      returned_for: proposal.returnedFor,
    },
  }));
}

function actorJson({ way, id, login }: Actor): ApplicationReply['timeline'][number]['by'] {
  return { way, id, login };
}
