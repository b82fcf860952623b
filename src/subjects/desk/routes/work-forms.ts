/** Schemas of pends, of the lead's view, of second looks and of documents' files (docs/operators.md). Pure. */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { By, form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { MISSING, PEND_ENDS, PEND_MESSAGES } from '../rules/pend.ts';

export const NewPend = form({
  missing: Type.Array(oneOf(MISSING), { minItems: 1, maxItems: MISSING.length, uniqueItems: true }),
  /** The message for the applicant in the chat; null: none. */
  message: orNull(Type.String({ minLength: 1, maxLength: 1_000 })),
  /** After this many hours the pend ends by itself. */
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

/** The lead's view. Counts are about applied decisions of the last `days`. */
export const Lead = form({
  days: Type.Integer(),
  /** Decisions by hour, oldest first, at most 2,160 hours. An hour without decisions is absent. */
  hours: Type.Array(
    form({ hour: Time, approved: Type.Integer(), rejected: Type.Integer(), disbursed: Type.Integer() }),
  ),
  /** What waits now, by age in hours: each with an upper bound and a count. `to` null: older than the bound before. */
  backlog: Type.Array(form({ to: orNull(Type.Integer()), count: Type.Integer() })),
  waiting: Type.Integer(),
  overdue: Type.Integer(),
  oldest_at: orNull(Time),
  /** By reviewer: all decisions, and those against what the score leans to (below 50: reject; from 50: approve). */
  reviewers: Type.Array(form({ by: By, decisions: Type.Integer(), overrides: Type.Integer() })),
  /** Decisions against the score, by reviewer and reason code. */
  overrides: Type.Array(
    form({ by: By, act: oneOf(REVIEW_ACTIONS), reason_code: oneOf(ALL_REASON_CODES), count: Type.Integer() }),
  ),
  /** The random second looks: the share that is set, how many wait, and how often the admin disagreed. */
  second_looks: form({
    share: Share,
    waiting: Type.Integer(),
    /** Those that the asking admin made or confirmed, so that another admin has to look. */
    own: Type.Integer(),
    looked: Type.Integer(),
    disagreed: Type.Integer(),
  }),
});

/**
 * A decision that was drawn for a second look. It does not say who decided, because the admin judges the application.
 */
export const SecondLook = form({
  proposal: Type.Integer(),
  application_id: Type.Integer(),
  act: oneOf(REVIEW_ACTIONS),
  reason_code: oneOf(ALL_REASON_CODES),
  score: orNull(Type.Integer()),
  decision: orNull(oneOf(DECISIONS)),
  at: Time,
});
/** The oldest 100 decisions that wait. */
export const SecondLooks = form({ second_looks: Type.Array(SecondLook, { maxItems: 100 }) });
export const NewLook = form({ agrees: Type.Boolean(), note: Type.String({ maxLength: 500 }) });

/** A document's file, for an operator who gave a reason. */
export const DocumentFile = form({
  content_type: Type.String(),
  /** The bytes as base64. */
  bytes: Type.String(),
  /**
   * The lines of a PDF, each with the month that it was counted for; null: it is no PDF, a scan, or one that does not
   * open.
   */
  lines: orNull(Type.Array(form({ text: Type.String(), month: orNull(Type.String()) }))),
  /** The number of lines with a month; null: there is no text, or no months were looked for. */
  counted: orNull(Type.Integer({ minimum: 0 })),
});

export type PendReply = Static<typeof Pend>;
export type LeadReply = Static<typeof Lead>;
export type SecondLooksReply = Static<typeof SecondLooks>;
