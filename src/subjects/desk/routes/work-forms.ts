/** The forms of what else is done at the desk: pending an application, looks at decisions, and the lead's view. */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { MISSING, PEND_ENDS, PEND_MESSAGES } from '../rules/pend.ts';
import { By, form, oneOf, orNull, Time } from './form.ts';

export const NewPend = form({
  missing: Type.Array(oneOf(MISSING), { minItems: 1, maxItems: MISSING.length, uniqueItems: true }),
  /** What the applicant reads in the chat; null: nothing is said. */
  message: orNull(Type.String({ minLength: 1, maxLength: 1_000 })),
  /** After so many hours the application comes back by itself. */
  hours: Type.Integer({ minimum: 1, maximum: 720 }),
});

export const Pend = form({
  application_id: Type.Integer(),
  missing: Type.Array(oneOf(MISSING)),
  by: By,
  at: Time,
  ends_at: Time,
  message: oneOf(PEND_MESSAGES),
  ended_at: orNull(Time),
  end: orNull(oneOf(PEND_ENDS)),
});

const Share = Type.Number({ minimum: 0, maximum: 1 });

export const LeadQuery = form({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })) });

/** What a lead looks at. Counts are of decisions that were applied, and of the last `days`. */
export const Lead = form({
  days: Type.Integer(),
  /** Decisions by hour, oldest first; an hour without any is absent. 2,160 hours at most. */
  hours: Type.Array(
    form({ hour: Time, approved: Type.Integer(), rejected: Type.Integer(), disbursed: Type.Integer() }),
  ),
  /** What waits now, by age in hours: an upper bound and a count; `to` null: older than the one before. */
  backlog: Type.Array(form({ to: orNull(Type.Integer()), count: Type.Integer() })),
  waiting: Type.Integer(),
  overdue: Type.Integer(),
  oldest_at: orNull(Time),
  /** By reviewer: decisions, and those against what the score leans to (below 50: reject; from 50: approve). */
  reviewers: Type.Array(form({ by: By, decisions: Type.Integer(), overrides: Type.Integer() })),
  /** Overrides by reviewer and reason code. */
  overrides: Type.Array(
    form({ by: By, act: oneOf(REVIEW_ACTIONS), reason_code: oneOf(ALL_REASON_CODES), count: Type.Integer() }),
  ),
  /** The random second looks: the set share, how many wait, and how often the looker disagreed. */
  second_looks: form({
    share: Share,
    waiting: Type.Integer(),
    /** Those among them that the asking admin made or confirmed: another one has to look. */
    own: Type.Integer(),
    looked: Type.Integer(),
    disagreed: Type.Integer(),
  }),
});

/** A decision that was drawn for a second look, without who decided: the looker judges the application. */
export const SecondLook = form({
  proposal: Type.Integer(),
  application_id: Type.Integer(),
  act: oneOf(REVIEW_ACTIONS),
  reason_code: oneOf(ALL_REASON_CODES),
  score: orNull(Type.Integer()),
  decision: orNull(oneOf(DECISIONS)),
  at: Time,
});
/** The oldest 100. */
export const SecondLooks = form({ second_looks: Type.Array(SecondLook, { maxItems: 100 }) });
export const NewLook = form({ agrees: Type.Boolean(), note: Type.String({ maxLength: 500 }) });

/** A document's file, for an operator who said why. */
export const DocumentFile = form({
  content_type: Type.String(),
  /** Base64. */
  bytes: Type.String(),
  /** The text of a PDF, with the months that were counted; null: no PDF, one of pictures, or one that does not open. */
  lines: orNull(Type.Array(form({ text: Type.String(), month: orNull(Type.String()) }))),
  /** The lines with a month; null: there is no text, or nobody looked for months in it. */
  counted: orNull(Type.Integer({ minimum: 0 })),
});

export type PendReply = Static<typeof Pend>;
export type LeadReply = Static<typeof Lead>;
export type SecondLooksReply = Static<typeof SecondLooks>;
