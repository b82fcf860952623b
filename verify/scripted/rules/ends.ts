/** Every conversation, and its application, end as the script says. */
import type { Found, History } from '../seen.ts';
import { wantedEnds } from '../wanted-ends.ts';

export function checkEnds({ persons, store }: History): Found[] {
  const conversations = Map.groupBy(store.conversations, ({ applicationId }) => applicationId);
  return persons.flatMap((person): Found[] => {
    const { applicationId, script } = person;
    const ends = wantedEnds(person, store);
    const found: Found[] = [];
    const note = (is: string, wanted: string) =>
      void (is === wanted || found.push({ applicationId, text: `"${script.name}": ${is}, not ${wanted}` }));
    const own = conversations.get(applicationId) ?? [];
    const wanted = ends.place === 'none' ? 'no conversation' : `${ends.place}, held by ${ends.heldBy}`;
    note(
      own.map(({ place, heldBy }) => `${place}, held by ${heldBy}`).join(' and ') || 'no conversation',
      wanted,
    );
    const application = store.applications.get(applicationId);
    const state = (status: string, isSigned: boolean) => `${status}${isSigned ? ', signed' : ''}`;
    note(
      application === undefined ? 'no application' : state(application.status, application.isSigned),
      state(ends.status, ends.isSigned),
    );
    return found;
  });
}
