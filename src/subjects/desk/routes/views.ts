/** The route of the views beside the review queue (docs/operators.md, "Views"). `uses/views.ts` does the work. */

import type { View } from '../../../domain/application/views.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import type { Desk } from '../uses/desk-context.ts';
import { showView } from '../uses/views.ts';
import { answered } from './answered.ts';
import { cursorOf, placeOf, wrongCursor } from './cursor.ts';
import { MOST_VIEW_ROWS, ViewPage, ViewQuery } from './view-forms.ts';

/** The route. */
export function viewRoute({ database }: Pick<Desk, 'database'>): Route {
  return route({
    method: 'GET',
    path: '/applications',
    access: 'viewer',
    hasTag: true,
    summary: 'A view of applications beside the review queue, a page at a time. The ETag is of the content.',
    query: ViewQuery,
    reply: ViewPage,
    run: ({ query: { view, cursor, limit = MOST_VIEW_ROWS, ...filter }, knownTags }) =>
      answered(async () => {
        const after = cursor === undefined ? null : placeOf(view, cursor, isKeyOf(view));
        if (cursor !== undefined && after === null) throw wrongCursor();
        const page = await showView(database, view, { filter, after, limit });
        return tagged(inForm(ViewPage, { ...page, next: page.next && cursorOf(view, page.next) }), knownTags);
      }),
  });
}

/** A time in microseconds since 1970. The walk in the order of registration needs the id alone. */
const isKeyOf = (view: View) => (key: unknown) =>
  view === 'waiting_signature' ? key === null : Number.isSafeInteger(key);
