/** The route of an application's neighbours (docs/operators.md, "Neighbours"). `uses/neighbours.ts` reads them. */
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import type { Desk } from '../uses/desk-context.ts';
import { readNeighbours } from '../uses/neighbours.ts';
import { noApplication } from '../uses/refusal.ts';
import { answered, applicationIdOf } from './answered.ts';
import { Neighbours } from './neighbour-forms.ts';

/** The route. What is shared is named, and never shown. */
export function neighbourRoute(desk: Desk): Route {
  return route({
    method: 'GET',
    path: '/applications/{id}/neighbours',
    access: 'viewer',
    failures: [404],
    hasTag: true,
    summary:
      'Other applications of the same ID number, of the same phone, and of the same partner and city within a day. The ETag is of the content.',
    reply: Neighbours,
    run: ({ params, knownTags }) =>
      answered(async () => {
        const neighbours = await readNeighbours(desk, applicationIdOf(params.id));
        if (neighbours === null) throw noApplication();
        return tagged(inForm(Neighbours, neighbours), knownTags);
      }),
  });
}
