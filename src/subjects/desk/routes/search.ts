/** The route of the search (docs/operators.md, "Find"). `uses/search.ts` does the work. */
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { endOf, initialsOf } from '../rules/mask.ts';
import type { Desk } from '../uses/desk-context.ts';
import { admitSearch, type FoundApplication, search } from '../uses/search.ts';
import { answered } from './answered.ts';
import { Found, Search } from './search-forms.ts';

/** The route. */
export function searchRoute(desk: Desk): Route {
  return route({
    method: 'POST',
    path: '/search',
    access: 'viewer',
    summary:
      'Finds applications by their number, persons by a phone or an ID number in any spelling, partners by name and operators by login. What is found is masked.',
    body: Search,
    reply: Found,
    run: ({ body: { q }, session }) =>
      answered(async () => {
        await admitSearch(desk, session.operatorId);
        const { applications, persons, ...rest } = await search(desk, q);
        return {
          body: inForm(Found, {
            ...rest,
            applications: applications.map((one) => ({
              ...rowOf(one),
              matched: one.matched,
              person: maskOf(one),
            })),
            persons: persons.map(({ newest, matched, count }) => ({
              ...maskOf(newest),
              application: newest.application.id,
              matched,
              applications: count,
            })),
          }),
        };
      }),
  });
}

/** What tells the person apart from others. */
export function maskOf({ application: { fields } }: Pick<FoundApplication, 'application'>) {
  return {
    initials: initialsOf(fields.name as string | null),
    phone: endOf(fields.phone as string | null),
    idNumber: endOf(fields.id_number as string | null),
  };
}

/** The application as a row of a list. */
export function rowOf({ application }: Pick<FoundApplication, 'application'>) {
  const { fields, ...rest } = application;
  return {
    ...rest,
    currency: fields.currency as string | null,
    debtAmount: fields.debt_amount as number | null,
  };
}
