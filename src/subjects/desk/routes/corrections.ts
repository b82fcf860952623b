/** The route that corrects what an application says about its person (docs/subject.md, "Correct"). */
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';

import { correctApplication } from '../uses/correct.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { noApplication } from '../uses/refusal.ts';
import { lastEventOf } from '../uses/show-application.ts';
import { answered, applicationIdOf } from './answered.ts';
import { Corrected, NewCorrection } from './forms.ts';

/** The route. */
export function correctionRoutes(desk: Desk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/corrections',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      summary:
        'Corrects one field of an application. The decision and a signed contract stay; the act is recorded.',
      body: NewCorrection,
      reply: Corrected,
      run: ({ params, session, body }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          if ((await lastEventOf(desk.database, id)) === null) throw noApplication();
          return {
            body: inForm(Corrected, await correctApplication(actingAs(desk, session.operatorId), id, body)),
          };
        }),
    }),
  ];
}
