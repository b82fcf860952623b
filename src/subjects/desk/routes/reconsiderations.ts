/**
 * Routes of the queue of reconsiderations and requests for data (D50; docs/reconsiderations.md, "The queue").
 * `reconsiderations/uses/cases.ts` does the work.
 */

import { loginsOf } from '../../../program/operations/sql/logins.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import { answerCase, listCases, type ShownCase, showCase } from '../../reconsiderations/uses/cases.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { conflict, Refusal } from '../uses/refusal.ts';
import { answered } from './answered.ts';
import {
  AnsweredCase,
  MOST_CASES,
  NewAnswer,
  Reconsideration,
  ReconsiderationQuery,
  Reconsiderations,
} from './reconsideration-forms.ts';

/** The routes. */
export function reconsiderationRoutes(desk: Desk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/reconsiderations',
      access: 'viewer',
      hasTag: true,
      summary:
        'What refused applicants and others ask a person for: open cases, the shortest term first, or answered ones, the newest answer first. The ETag is of the content.',
      query: ReconsiderationQuery,
      reply: Reconsiderations,
      run: ({ query, knownTags }) =>
        answered(async () => {
          const { state = 'open', kind = null, cursor, limit = MOST_CASES } = query;
          const after = cursor === undefined ? null : placeOf(cursor);
          const filter = { isOpen: state === 'open', kind };
          const { cases, next } = await listCases(desk, filter, after, limit);
          const shown = await shownCases(desk, cases);
          return tagged({ reconsiderations: shown, next: next && `r${next.ms}.${next.id}` }, knownTags);
        }),
    }),
    route({
      method: 'POST',
      path: '/reconsiderations/{id}/answer',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Answers a case: `confirmed` or `apply_again` of a reconsideration, `answered` of a request for data. The applicant reads the text in the chat. No status changes. The same answer again counts once; another one gets 409 (`not_open`).',
      body: NewAnswer,
      reply: AnsweredCase,
      run: ({ params, session, body: { outcome, text } }) =>
        answered(async () => {
          const id = caseIdOf(params.id);
          const done = await answerCase(actingAs(desk, session.operatorId), id, { outcome, text });
          if (done.kind === 'gone') throw noCase();
          if (done.kind === 'other') {
            throw conflict('not_open', 'the case is answered already: look at it again', {
              state: done.found.outcome,
            });
          }
          const now = await showCase(desk, id);
          if (now === null) throw noCase();
          const [reconsideration] = await shownCases(desk, [now]);
          return { body: { reconsideration: reconsideration!, unreached: done.unreached } };
        }),
    }),
  ];
}

async function shownCases(desk: Desk, cases: readonly ShownCase[]) {
  const logins = await loginsOf(
    desk.database,
    cases.flatMap(({ answeredBy }) => answeredBy ?? []),
  );
  return cases.map((one) =>
    inForm(Reconsideration, {
      ...one,
      application: one.applicationId,
      state: one.outcome === null ? 'open' : 'answered',
      answeredBy: one.answeredBy === null ? null : (logins.get(one.answeredBy) ?? one.answeredBy),
      told: one.toldStatus,
    }),
  );
}

function placeOf(cursor: string) {
  const [, ms, id] = /^r(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (ms === undefined || id === undefined) throw new Refusal(400, 'query: cursor is none of this list');
  return { ms: Number(ms), id: Number(id) };
}

function caseIdOf(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw noCase();
  return Number(text);
}

function noCase(): Refusal {
  return new Refusal(404, 'there is no such case');
}
