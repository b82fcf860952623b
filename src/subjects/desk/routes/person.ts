/** The route of a person's page (docs/operators.md, "A person"). `uses/person.ts` reads it. */
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import type { Desk } from '../uses/desk-context.ts';
import { readPerson } from '../uses/person.ts';
import { noApplication } from '../uses/refusal.ts';
import { answered, applicationIdOf } from './answered.ts';
import { Person } from './person-forms.ts';
import { maskOf, rowOf } from './search.ts';

/** The route. An application stands for its person, so no address has a phone or an ID number. */
export function personRoute(desk: Desk): Route {
  return route({
    method: 'GET',
    path: '/persons/{id}',
    access: 'viewer',
    failures: [404],
    hasTag: true,
    summary:
      'All applications with the phone or the ID number of this application, and what lies beside them, masked. The ETag is of the content.',
    reply: Person,
    run: ({ params, knownTags }) =>
      answered(async () => {
        const person = await readPerson(desk, applicationIdOf(params.id));
        if (person === null) throw noApplication();
        const applications = person.applications.map((one) => ({
          ...rowOf(one),
          ...one.beside,
          signedAt: one.application.signedAt,
          matched: one.matched,
          person: maskOf(one),
          exports: one.beside.exports.map(({ at, actor }) => ({ at, by: person.logins.get(actor) ?? actor })),
        }));
        return tagged(inForm(Person, { ...person, applications }), knownTags);
      }),
  });
}
