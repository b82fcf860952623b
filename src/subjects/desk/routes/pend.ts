/**
 * Routes that pend an application and resume it (docs/operators.md, "Pended applications"). `uses/pend.ts` does the
 * work.
 */

import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs, type QueueDesk, type SpeakingDesk } from '../uses/desk-context.ts';
import { pend, resume } from '../uses/pend.ts';
import { Refusal } from '../uses/refusal.ts';
import { answered, applicationIdOf, claimerOf } from './answered.ts';
import { NewPend, Pend } from './work-forms.ts';

/** The routes. */
export function pendRoutes(desk: SpeakingDesk & QueueDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/pend',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Stops the time of an application until the applicant answers or the hours are over. If-Match names the last event that it was decided on: 428 without it, 412 after another event. An Idempotency-Key makes a repetition count once.',
      headers: ['If-Match', 'Idempotency-Key'],
      body: NewPend,
      reply: Pend,
      run: ({ params, session, body, decidedOn, idempotencyKey: key }) =>
        answered(async () => {
          const applicationId = applicationIdOf(params.id);
          if (decidedOn === null) throw new Refusal(428, 'If-Match with the last event is missing');
          const { operatorId } = session;
          const asked = { ...body, applicationId, decidedOn, key };
          return { body: inForm(Pend, await pend(desk, operatorId, asked)) };
        }),
    }),
    route({
      method: 'POST',
      path: '/applications/{id}/resume',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary: 'Ends the pend of an application, and claims it.',
      headers: ['Operator-Page'],
      body: form({}),
      reply: Pend,
      run: ({ params, ...call }) =>
        answered(async () => {
          const claimer = claimerOf(call);
          const id = applicationIdOf(params.id);
          return { body: inForm(Pend, await resume(actingAs(desk, claimer.operatorId), claimer, id)) };
        }),
    }),
  ];
}
