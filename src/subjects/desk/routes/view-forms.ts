/** Schemas of the views beside the review queue (docs/operators.md, "Views"). Pure. A row has no personal data. */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import {
  MOST_FILE_ROWS,
  MOST_NAME_CHARACTERS,
  MOST_SAVED_VIEWS,
  VIEW_ORDERS,
  VIEWS,
} from '../../../domain/application/views.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { MOST_COUNTED } from '../rules/queue.ts';
import { ROW } from './search-forms.ts';

/** The most rows of a page. */
export const MOST_VIEW_ROWS = 100;

const Day = Type.String({ pattern: '^2\\d{3}-\\d{2}-\\d{2}$', format: 'date' });

/** A view with its filters and its order. */
export const ViewAddress = {
  view: oneOf(VIEWS),
  partner: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  /** The partner's country. */
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  /** From this day on and up to this day, in UTC, by the time that the view is ordered by. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  /** By the time that the view is ordered by; absent: the view's own order. */
  order: Type.Optional(oneOf(VIEW_ORDERS)),
};

export const ViewQuery = form({
  ...ViewAddress,
  /** The `next` of the page before, which programs pass on as it is. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_VIEW_ROWS })),
});

export const ViewItem = form({
  ...ROW,
  /**
   * The time that the view is ordered by: from when on it may be paid (`to_pay`, `signed`), its registration
   * (`waiting_signature`), since when it waits (`waiting_person`, `pended`), when the answer is due (`review_asked`),
   * when it was decided (`decided`).
   */
  at: Time,
  /** What an operator has proposed; null: nothing is open. */
  proposed: orNull(oneOf(REVIEW_ACTIONS)),
});

export const ViewPage = form({
  applications: Type.Array(ViewItem),
  /** The cursor of the next page; null: this is the last one. A page with few rows, or none, may have one. */
  next: orNull(Type.String()),
  /** How many there are. 10,000 stands for 10,000 and more. null: it is not counted. */
  count: orNull(Type.Integer({ maximum: MOST_COUNTED })),
});

/** The body of a request for rows of a file. `rows` and `cursor` are those of the answer before. */
export const FileRowsQuery = form({
  ...ViewAddress,
  reason: Type.String({ minLength: 1, maxLength: 500 }),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  rows: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_FILE_ROWS })),
});

export const FileRows = form({
  applications: Type.Array(ViewItem),
  /** How many rows the file has with these. */
  rows: Type.Integer(),
  /** null: these are the last ones. */
  next: orNull(Type.String()),
  /** The file ends here, and the view has more. */
  is_cut: Type.Boolean(),
});

/** A view under a name. */
export const NewSavedView = form({
  name: Type.String({ minLength: 1, maxLength: 4 * MOST_NAME_CHARACTERS }),
  query: form(ViewAddress),
});
export const SavedView = form({ id: Type.Integer(), name: Type.String(), query: form(ViewAddress) });
export const SavedViews = form({ views: Type.Array(SavedView, { maxItems: MOST_SAVED_VIEWS }) });

export type FileRowsReply = Static<typeof FileRows>;
export type SavedViewReply = Static<typeof SavedView>;
export type SavedViewsReply = Static<typeof SavedViews>;
export type ViewItemReply = Static<typeof ViewItem>;
export type ViewPageReply = Static<typeof ViewPage>;
