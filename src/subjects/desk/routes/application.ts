/**
 * Routes of one application at the console: its page, and the reveal of personal data (docs/operators.md, "One
 * application"). `uses/show-application.ts` and `uses/reveal.ts` read it.
 */
import { isPersonalField } from '../../../domain/application/correction.ts';
import type { FieldName } from '../../../domain/application/fields.ts';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { sumText } from '../../../domain/loan/debt.ts';
import { CRITERIA, MAX_POINTS } from '../../../domain/scorecard/scorecard.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { contradictedCodes } from '../rules/against.ts';
import { endOf, initialsOf } from '../rules/mask.ts';
import { actingAs, type SpeakingDesk } from '../uses/desk-context.ts';
import { keyedRequest } from '../uses/note-reveal.ts';
import { noApplication } from '../uses/refusal.ts';
import { type RevealedApplication, reveal } from '../uses/reveal.ts';
import { isShown, lastEventOf, readForPage, type ShownApplication } from '../uses/show-application.ts';
import { answered, applicationIdOf, reasonOf } from './answered.ts';
import { Application, type ApplicationReply, Revealed, type RevealedReply, RevealReason } from './forms.ts';
import { listed } from './proposals.ts';

/** The routes, which show what `readForPage` and `reveal` read. */
export function applicationRoutes(desk: SpeakingDesk): Route[] {
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
          const asked = { id, lastEvent: tag, terms: await desk.terms() };
          const shown = await readForPage(actingAs(desk, operatorId), operatorId, asked);
          return { body: pageOf(shown), tag: shown.lastEvent };
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
          return { body: revealed(shown) };
        }),
    }),
  ];
}

type Text = string | null;

function revealed({
  fields,
  corrections,
  messages,
  chat,
  income,
  debts,
  asked,
}: RevealedApplication): RevealedReply {
  const text = (name: FieldName) => fields[name] as Text;
  return inForm(Revealed, {
    name: text('name'),
    phone: text('phone'),
    idNumber: text('id_number'),
    city: text('city'),
    consentAt: text('consent_at'),
    consentText: text('consent_text'),
    consentChannel: text('consent_channel'),
    corrections: corrections.flatMap(({ id, field, values }) =>
      isPersonalField(field) ? [{ id, before: null, after: null, ...values }] : [],
    ),
    messages,
    chat,
    debts,
    asked,
    income:
      income?.map((one) => ({
        ...one,
        months: one.months.map(({ month, amount }) => ({ month, amount: amount / 100 })),
      })) ?? null,
  });
}

/** An application as its page reads it. Personal data is masked here, and no sealed value is in it. */
function pageOf(shown: ShownApplication): ApplicationReply {
  const { application, proposal } = shown;
  const { decision, fields, points } = application;
  return inForm(Application, {
    ...application,
    lastEvent: shown.lastEvent,
    criteria: CRITERIA.map((criterion) => {
      const most = MAX_POINTS[criterion];
      const got = decision === null ? null : (points[criterion] ?? null);
      return { criterion, points: got, most, lost: got === null ? null : most - got };
    }),
    bands: { approved: application.bands.approved, inReview: application.bands.in_review },
    platform: fields.platform as Text,
    currency: fields.currency as Text,
    income: fields.income as number | null,
    debtAmount: fields.debt_amount as number | null,
    numDebts: fields.num_debts as Text,
    debtAge: fields.debt_age as Text,
    priorHistory: fields.prior_history as Text,
    messagingOptin: fields.messaging_optin as boolean | null,
    corrections: application.corrections.map(({ values, ...one }) => {
      const decidedWithOldValue = !isPersonalField(one.field);
      const shownValues = decidedWithOldValue ? values : null;
      return { ...one, before: null, after: null, ...shownValues, decidedWithOldValue };
    }),
    paymentHeldBy: application.status === 'pending_signature' ? shown.heldBy : null,
    offer: offerOf(shown),
    debts: debtsOf(shown),
    person: personOf(shown),
    capacity: shown.capacity,
    chat: {
      messages: application.messages,
      conversation: conversationOf(shown),
      takesText: shown.takesText,
    },
    documents: shown.documents,
    observedIncome: incomeOf(shown),
    timeline: shown.timeline,
    notes: shown.notes,
    review: reviewOf(shown),
    proposal: proposal && listed(proposal, shown.proposalFacts),
    contradicted: REVIEW_ACTIONS.flatMap((act) =>
      contradictedCodes(act, shown.evidence).map(({ code, why }) => ({ reasonCode: code, why })),
    ),
  });
}

function personOf({ application: { fields, fault } }: ShownApplication) {
  return {
    initials: initialsOf(fields.name as Text),
    phone: endOf(fields.phone as Text),
    idNumber: endOf(fields.id_number as Text),
    city: fields.city === null ? null : ('***' as const),
    fault,
  };
}

function offerOf({ contract }: ShownApplication) {
  if (contract === null || !isShown(contract)) return null;
  const { state, expiresAt, terms } = contract;
  return { ...terms.offer, state, expiresAt };
}

function debtsOf({ debts, application: { fields } }: ShownApplication) {
  if (debts === null || fields.currency === null) return null;
  const sumBy = (isRead: boolean) =>
    sumText(
      debts.filter(({ toldBy }) => (toldBy === 'document') === isRead),
      String(fields.currency),
    );
  return { told: sumBy(false), read: sumBy(true), list: debts };
}

function conversationOf({ conversation }: ShownApplication) {
  if (conversation === null) return null;
  const { row, inputs, replies } = conversation;
  const { place: step, heldBy, beganAt, endedAt } = row;
  return {
    ...{ step, heldBy, beganAt, endedAt },
    inputs: inputs.map(({ content, ...input }) => ({ ...input, kind: content?.kind ?? null })),
    replies,
  };
}

function incomeOf({ income }: ShownApplication) {
  return income && { ...income, declared: inUnits(income.declared), observed: inUnits(income.observed) };
}

/** An income in units of the currency. Incomes are stored in whole hundredths. */
function inUnits(hundredths: number | null): number | null {
  return hundredths === null ? null : hundredths / 100;
}

function reviewOf({ item, pends }: ShownApplication) {
  return item && { ...item, pend: pends.findLast(({ endedAt }) => endedAt === null) ?? null };
}
