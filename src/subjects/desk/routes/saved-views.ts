/** The routes of the views that an operator saves (docs/operators.md, "Views"). Each reaches the own ones alone. */
import { Type } from 'typebox';
import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import type { Desk } from '../uses/desk-context.ts';
import { Refusal } from '../uses/refusal.ts';
import { deleteSavedView, keepView, readSavedViews } from '../uses/saved-views.ts';
import { answered } from './answered.ts';
import { NewSavedView, SavedView, SavedViews } from './view-forms.ts';

const PATH = '/saved-views';

/** The routes. */
export function savedViewRoutes({ database }: Pick<Desk, 'database'>): Route[] {
  return [
    route({
      ...{ method: 'GET', path: PATH, access: 'viewer', summary: 'Your saved views, by name.' },
      reply: SavedViews,
      run: async ({ session }) => ({
        body: inForm(SavedViews, { views: await readSavedViews(database, session.operatorId) }),
      }),
    }),
    route({
      ...{ method: 'POST', path: PATH, access: 'viewer' },
      summary:
        'Saves a view with its filters under a name of yours, in the place of that with the same name.',
      body: NewSavedView,
      reply: SavedView,
      run: ({ session, body }) =>
        answered(async () => ({
          body: inForm(SavedView, await keepView(database, session.operatorId, body)),
        })),
    }),
    route({
      ...{ method: 'DELETE', path: `${PATH}/{id}`, access: 'viewer', failures: [404] },
      summary: 'Deletes a saved view of yours.',
      reply: form({ id: Type.Integer() }),
      run: ({ session, params }) =>
        answered(async () => {
          const id = /^[1-9]\d{0,14}$/.test(params.id ?? '') ? Number(params.id) : 0;
          if (!(await deleteSavedView(database, session.operatorId, id)))
            throw new Refusal(404, 'you have no such saved view');
          return { body: { id } };
        }),
    }),
  ];
}
