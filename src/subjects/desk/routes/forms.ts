/**
 * The forms of what the desk says of one application. Times are ISO 8601 with an offset, amounts are in units of the
 * currency. Texts of persons, partners and operators are data: a page shows them as text, never as markup.
 */
import { type Static, Type } from 'typebox';
import { APPLICATION_STATUSES } from '../../../domain/application/lifecycle.ts';
import { DOCUMENT_STATES, PURPOSES } from '../../../domain/document/document.ts';
import { CRITERIA } from '../../../domain/scorecard/policy.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { MOST_NOTE_CHARACTERS, MOST_NOTES } from '../rules/bounds.ts';
import { AnnouncedMessage, Chat, ChatLine } from './chat-forms.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from './form.ts';
import { Contradicted, ListedProposal } from './proposal-forms.ts';
import { Claim, QUEUE_STATES } from './queue-forms.ts';
import { Event } from './timeline-forms.ts';
import { Pend } from './work-forms.ts';

export const Note = form({
  id: Type.Integer(),
  at: Time,
  /** The operator who wrote it. */
  by: By,
  /** null: it was sealed with a key that the service lacks, or is damaged. */
  text: orNull(Type.String()),
});
export const Notes = form({ notes: Type.Array(Note) });
export const NewNote = form({
  text: Type.String({ minLength: 1, maxLength: 2 * MOST_NOTE_CHARACTERS }),
});

/** Enough to tell persons apart, and not to know them. A part is null where it is absent or erased. */
const MaskedPerson = form({
  /** Such as `M. G.` */
  initials: orNull(Type.String()),
  /** Such as `…01`: the last two digits. */
  phone: orNull(Type.String()),
  id_number: orNull(Type.String()),
  city: orNull(Type.Literal('***')),
  /** Why the data cannot be shown; null also where it is erased. */
  fault: orNull(oneOf(['unreadable', 'mismatch', 'unknown_key'])),
});

const Criterion = form({
  criterion: oneOf(CRITERIA),
  points: orNull(Type.Integer()),
  most: Type.Integer(),
  /** `most` without `points`. */
  lost: orNull(Type.Integer()),
});

/** Other applications with the same phone or ID number; the newest first, 20 at most. */
const Earlier = form({
  /** How many there are; 100 stands for 100 and more. */
  count: Type.Integer({ maximum: 100 }),
  applications: Type.Array(
    form({
      id: Type.Integer(),
      partner: PartnerName,
      status: orNull(oneOf(APPLICATION_STATUSES)),
      signed_at: orNull(Time),
      created_at: Time,
    }),
    { maxItems: 20 },
  ),
});

const Document = form({
  id: Type.Integer(),
  sha256: orNull(Type.String()),
  /** What it was asked for. */
  purpose: oneOf(PURPOSES),
  content_type: orNull(Type.String()),
  state: oneOf(DOCUMENT_STATES),
  reason: orNull(Type.String()),
  bytes: orNull(Type.Integer()),
  received_at: Time,
  decided_at: orNull(Time),
});

/** The last check of the income (docs/income.md). The amount of each month is personal: `reveal` has it. */
const Income = form({
  checked_at: Time,
  outcome: oneOf(['confirmed', 'adjusted', 'operator']),
  reason: Type.String(),
  currency: orNull(Type.String()),
  declared: orNull(Type.Number()),
  observed: orNull(Type.Number()),
  /** How many whole months count. */
  months: Type.Integer(),
  confidence: Type.Number(),
  new_score: orNull(Type.Integer()),
  new_decision: orNull(oneOf(DECISIONS)),
});

/** What the applicant was offered or has signed (docs/signing.md). */
const Offer = form({
  state: oneOf(['open', 'signed', 'withdrawn']),
  amount: Type.String(),
  currency: Type.String(),
  installment: Type.String(),
  months: Type.Integer(),
  total: Type.String(),
  expires_at: Time,
});

/** An application on its page. */
export const Application = form({
  id: Type.Integer(),
  /** The number of its last event, as the `ETag` has it; 0: nothing has happened since the registration. */
  last_event: Type.String(),
  created_at: Time,
  partner: PartnerName,
  /** null, as the decision and the score: the stored data cannot be read. */
  status: orNull(oneOf(APPLICATION_STATUSES)),
  decision: orNull(oneOf(DECISIONS)),
  score: orNull(Type.Integer()),
  policy_version: Type.String(),
  criteria: Type.Array(Criterion),
  /** The policy's limit of the amount rejected it, not its score. */
  above_limit: Type.Boolean(),
  platform: orNull(Type.String()),
  currency: orNull(Type.String()),
  income: orNull(Type.Number()),
  /** The debt to consolidate: what is asked for. */
  debt_amount: orNull(Type.Number()),
  num_debts: orNull(Type.String()),
  debt_age: orNull(Type.String()),
  prior_history: orNull(Type.String()),
  messaging_optin: orNull(Type.Boolean()),
  interested_at: orNull(Time),
  signed_at: orNull(Time),
  withdrawable_until: orNull(Time),
  /** What its contract asks for before a payment, and is not there; null: nothing, or it has no conversation (D46). */
  payment_held_by: orNull(oneOf(['not_signed', 'withdrawable'])),
  offer: orNull(Offer),
  person: MaskedPerson,
  earlier: form({ same_phone: Earlier, same_id_number: Earlier }),
  chat: Chat,
  documents: Type.Array(Document),
  observed_income: orNull(Income),
  /** Oldest first. */
  timeline: Type.Array(Event),
  /** Oldest first. */
  notes: Type.Optional(Type.Array(Note, { maxItems: MOST_NOTES })),
  /** Its place in the queue; null: it is not in review. */
  review: Type.Optional(
    orNull(
      form({
        state: oneOf(QUEUE_STATES),
        /** null while it is pended. */
        due_at: orNull(Time),
        claim: orNull(Claim),
        pend: orNull(Pend),
      }),
    ),
  ),
  /** The open proposal, or else the newest one; null: there is none. */
  proposal: Type.Optional(orNull(ListedProposal)),
  /** The reason codes that operators give and the file contradicts. */
  contradicted: Type.Array(Contradicted),
});

export const RevealReason = form({ reason: Type.String({ minLength: 5, maxLength: 500 }) });

/** What `reveal` answers. A part is null where it is absent, erased or cannot be read. */
export const Revealed = form({
  name: orNull(Type.String()),
  phone: orNull(Type.String()),
  id_number: orNull(Type.String()),
  city: orNull(Type.String()),
  /** Those of `chat.messages` that can be rendered. */
  messages: Type.Array(AnnouncedMessage),
  chat: Type.Array(ChatLine),
  /** The statements that the observed income stands on; null: nothing was checked, or it is erased. */
  income: orNull(
    Type.Array(
      form({
        source: Type.String(),
        currency: orNull(Type.String()),
        months: Type.Array(form({ month: Type.String(), amount: Type.Number() })),
      }),
    ),
  ),
});

export type ApplicationReply = Static<typeof Application>;
export type RevealedReply = Static<typeof Revealed>;
export type NoteReply = Static<typeof Note>;
