/** The route of the views beside the review queue (docs/operators.md, "Views"). `uses/views.ts` does the work. */

import { hasBothOrders, ownOrderOf, type View, type ViewOrder } from '../../../domain/application/views.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import type { Desk } from '../uses/desk-context.ts';
import { Refusal } from '../uses/refusal.ts';
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
    run: ({ query: { view, order: asked, cursor, limit = MOST_VIEW_ROWS, ...filter }, knownTags }) =>
      answered(async () => {
        const order = orderOf(view, asked);
        const list = `${view} ${order}`;
        const after = cursor === undefined ? null : placeOf(list, cursor, isKeyOf(view));
        if (cursor !== undefined && after === null) throw wrongCursor();
        const page = await showView(database, view, { filter, order, after, limit });
        return tagged(inForm(ViewPage, { ...page, next: page.next && cursorOf(list, page.next) }), knownTags);
      }),
  });
}

/** The order that is asked for, else the view's own. Throws a `Refusal` if the view does not have it. */
export function orderOf(view: View, asked: ViewOrder | undefined): ViewOrder {
  const own = ownOrderOf(view);
  if (asked !== undefined && asked !== own && !hasBothOrders(view))
    throw new Refusal(400, `query: ${view} has the order ${own} alone`);
  return asked ?? own;
}

/** A time in microseconds since 1970. The walk in the order of registration needs the id alone. */
export const isKeyOf = (view: View) => (key: unknown) =>
  view === 'waiting_signature' ? key === null : Number.isSafeInteger(key);
