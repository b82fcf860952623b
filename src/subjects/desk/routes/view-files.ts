/**
 * The route by which a page makes a file of a view, some rows at a time (docs/operators.md, "Views"). The first request
 * is recorded with its reason; no row has personal data.
 */
import { MOST_FILE_ROWS } from '../../../domain/application/views.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { ROWS_AT_ONCE } from '../rules/views.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { noteFile } from '../uses/view-file.ts';
import { showRows } from '../uses/views.ts';
import { answered, reasonOf } from './answered.ts';
import { cursorOf, placeOf, wrongCursor } from './cursor.ts';
import { FileRows, FileRowsQuery } from './view-forms.ts';
import { isKeyOf, orderOf } from './views.ts';

/** The route. */
export function viewFileRoute(desk: Desk): Route {
  return route({
    method: 'POST',
    path: '/applications/rows',
    access: 'viewer',
    summary: `The rows of a view for a file, ${ROWS_AT_ONCE} at a time and ${MOST_FILE_ROWS} at most. The first request is recorded with its reason.`,
    body: FileRowsQuery,
    reply: FileRows,
    run: ({ session, body: { view, order: asked, cursor, rows: before = 0, reason: given, ...filter } }) =>
      answered(async () => {
        const reason = reasonOf(given);
        const order = orderOf(view, asked);
        const filters = new URLSearchParams();
        for (const [name, value] of Object.entries(filter)) filters.set(name, `${value}`);
        filters.sort();
        const list = (rows: number) => `${view} ${order} ${filters} ${rows}`;
        const after = cursor === undefined ? null : placeOf(list(before), cursor, isKeyOf(view));
        if ((cursor === undefined) !== (before === 0) || (cursor !== undefined && after === null))
          throw wrongCursor();
        if (after === null)
          await noteFile(actingAs(desk, session.operatorId), { view, order, ...filter }, reason);
        const limit = Math.min(ROWS_AT_ONCE, MOST_FILE_ROWS - before);
        const page = await showRows(desk.database, view, { filter, order, after, limit });
        const rows = before + page.applications.length;
        const isCut = page.next !== null && rows >= MOST_FILE_ROWS;
        const next = page.next === null || isCut ? null : cursorOf(list(rows), page.next);
        return { body: inForm(FileRows, { ...page, rows, isCut, next }) };
      }),
  });
}
