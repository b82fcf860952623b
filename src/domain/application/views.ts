/** The views of applications beside the review queue, in the order of the page (docs/operators.md, "Views"). Pure. */
export const VIEWS = [
  'to_pay',
  'signed',
  'waiting_signature',
  'waiting_person',
  'pended',
  'review_asked',
  'decided',
] as const;
export type View = (typeof VIEWS)[number];

/** By the time that a view is ordered by. */
export const VIEW_ORDERS = ['oldest', 'newest'] as const;
export type ViewOrder = (typeof VIEW_ORDERS)[number];

/** The order of a view where nobody asks for another one. */
export function ownOrderOf(view: View): ViewOrder {
  return view === 'decided' || view === 'waiting_signature' ? 'newest' : 'oldest';
}

/** Whether a view has both orders: the walk over all applications, newest first, has no way back. */
export function hasBothOrders(view: View): boolean {
  return view !== 'waiting_signature';
}

/** The most rows of a file of a view. */
export const MOST_FILE_ROWS = 50_000;

/** The most views that an operator saves, and the most characters of a name. */
export const MOST_SAVED_VIEWS = 20;
export const MOST_NAME_CHARACTERS = 60;
