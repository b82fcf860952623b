/** The views that an operator saves under a name: of one's own alone (docs/operators.md, "Views"). */
import { MOST_NAME_CHARACTERS, MOST_SAVED_VIEWS } from '../../../domain/application/views.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { SavedQuery, SavedView } from '../rules/views.ts';
import { deleteSavedView, readSavedViews, saveView } from '../sql/saved-views.ts';

export { deleteSavedView, readSavedViews };

/**
 * Saves a view, in the place of that with the same name. Throws `OperatorError` if the name is refused, or if
 * the operator has as many as there may be.
 */
export async function keepView(
  database: Database,
  operatorId: number,
  given: { readonly name: string; readonly query: SavedQuery },
): Promise<SavedView> {
  const name = readableText(given.name, MOST_NAME_CHARACTERS);
  if (name === null)
    throw new OperatorError(
      `the name must have 1 to ${MOST_NAME_CHARACTERS} characters, without control or hidden ones`,
    );
  const saved = await inTransaction(database, (session) =>
    saveView(session, operatorId, { name, query: given.query }, MOST_SAVED_VIEWS),
  );
  if (saved === null) throw new OperatorError(`you have ${MOST_SAVED_VIEWS} saved views: delete one first`);
  return saved;
}
