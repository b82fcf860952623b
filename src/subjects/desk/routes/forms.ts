/**
 * Schemas of what the desk tells about one application (docs/operators.md, "One application"). Pure. Times are ISO 8601
 * with an offset, and amounts are in units of the currency. Texts of persons, partners and operators are data: a page
 * shows them as text, never as markup.
 */
import { type Static, Type } from 'typebox';
import { CASE_KINDS } from '../../../domain/application/cases.ts';
import { CORRECTABLE_FIELDS } from '../../../domain/application/correction.ts';
import {
  APPLICATION_STATUSES,
  NOTED_ACTIONS,
  REVIEW_ACTIONS,
} from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { HOLDERS, PLACES } from '../../../domain/conversation/places.ts';
import { DOCUMENT_STATES, PURPOSES } from '../../../domain/document/document.ts';
import { MOST_DEBTS, TOLD_BY } from '../../../domain/loan/debt.ts';
import { MESSAGE_STATUSES, MESSAGE_TYPES } from '../../../domain/message/notify.ts';
import { CRITERIA, DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { HELD_BY } from '../rules/conflict.ts';
import { MISSING, PEND_ENDS } from '../rules/pend.ts';
import { MOST_NOTE_CHARACTERS, MOST_NOTES } from '../rules/queue.ts';
import { RETURN_CODES } from '../rules/returned.ts';
import { Contradicted, ListedProposal } from './proposal-forms.ts';
import { Capacity, Claim, QUEUE_STATES } from './queue-forms.ts';
import { Pend } from './work-forms.ts';

// The timeline: what happened to an application, and who did it.

/**
 * Who did something. `id` null: it was no operator with an account. `command_line`: the machine's owner did it (D48).
 */
const Actor = form({
  way: oneOf(['service', 'applicant', 'operator', 'command_line']),
  id: orNull(Type.Integer()),
  login: Type.String(),
});

/**
 * The registration, the reviews, the applicant's tap and signature, the pends, and proposals that were declined or came
 * back.
 */
const Event = form({
  at: Time,
  by: Actor,
  act: oneOf([
    ...(['register', 'approve', 'reject', 'disburse', 'interested'] as const),
    ...NOTED_ACTIONS,
    ...(['sign', 'pend', 'pend_end', 'decline', 'return'] as const),
  ]),
  from: orNull(oneOf(APPLICATION_STATUSES)),
  to: orNull(oneOf(APPLICATION_STATUSES)),
  reason: Type.String(),
  reason_code: orNull(oneOf(ALL_REASON_CODES)),
  /** The second operator of an act that needs two. */
  second: orNull(Actor),
  /** What was missing, for a pend and its end. */
  missing: orNull(Type.Array(oneOf(MISSING))),
  /** How a pend ended. */
  end: orNull(oneOf(PEND_ENDS)),
  /** The decision that a second operator declined, or that came back to its maker. */
  proposal: orNull(
    form({ act: oneOf(REVIEW_ACTIONS), maker: Actor, returned_for: orNull(oneOf(RETURN_CODES)) }),
  ),
});

// The chat: what applicant and service said to each other.

/** A template that announces something to the applicant, and what became of it. */
const Message = form({
  id: Type.String(),
  type: oneOf(MESSAGE_TYPES),
  status: oneOf(MESSAGE_STATUSES),
  reason: orNull(Type.String()),
  created_at: Time,
  changed_at: Time,
});

/** Something that happened to the conversation. */
const Input = form({
  at: Time,
  source: Type.String(),
  turn: orNull(Type.Integer()),
  /** null: it cannot be read. */
  kind: orNull(Type.String()),
});

/** A reply of the service in the conversation. */
const Reply = form({
  turn: Type.Integer(),
  status: oneOf(MESSAGE_STATUSES),
  reason: orNull(Type.String()),
  created_at: Time,
  sent_at: orNull(Time),
  delivered_at: orNull(Time),
  read_at: orNull(Time),
});

/** What applicant and service said to each other, without the texts, which `reveal` has. */
const Chat = form({
  messages: Type.Array(Message),
  conversation: orNull(
    form({
      step: oneOf(PLACES),
      held_by: oneOf(HOLDERS),
      began_at: Time,
      ended_at: orNull(Time),
      /** The newest 500, oldest first. */
      inputs: Type.Array(Input),
      replies: Type.Array(Reply),
    }),
  ),
  /** Whether a text of an operator can go to the applicant now: the conversation and the channel's window are open. */
  takes_text: Type.Boolean(),
});

/** A line of the chat with its text. */
const ChatLine = form({
  at: Time,
  from: oneOf(['applicant', 'service']),
  /** The turn of the conversation that heard or said it; null: no turn has yet. */
  turn: orNull(Type.Integer()),
  /** What the applicant sent, such as `tap` or `file`; `reply` for the service. */
  kind: Type.String(),
  /** What was written, or the title of a choice in the message that offered it; null: there is no text. */
  text: orNull(Type.String()),
  /** The name of the attached file; null: there is no file, or it has no name. */
  file: orNull(Type.String()),
  /** The titles of what the applicant could choose. */
  choices: Type.Array(Type.String()),
});

/** A message that announced something, rendered with the present brand of the key. */
const AnnouncedMessage = form({
  id: Type.String(),
  text: Type.String(),
  choices: Type.Array(Type.String()),
});

export const Note = form({
  id: Type.Integer(),
  at: Time,
  /** The operator who wrote it. */
  by: By,
  /** null: the service lacks the key that sealed it, or it is damaged. */
  text: orNull(Type.String()),
});
export const Notes = form({ notes: Type.Array(Note) });
export const NewNote = form({
  text: Type.String({ minLength: 1, maxLength: 2 * MOST_NOTE_CHARACTERS }),
});

/** Enough to tell persons apart, but not to know who they are. A part is null if it is absent or erased. */
const MaskedPerson = form({
  /** Such as `M. G.` */
  initials: orNull(Type.String()),
  /** Such as `…01`: the last two digits. */
  phone: orNull(Type.String()),
  id_number: orNull(Type.String()),
  city: orNull(Type.Literal('***')),
  /** Why the data cannot be shown; null also if it is erased. */
  fault: orNull(oneOf(['unreadable', 'mismatch', 'unknown_key'])),
});

const Criterion = form({
  criterion: oneOf(CRITERIA),
  points: orNull(Type.Integer()),
  most: Type.Integer(),
  /** The difference of `most` and `points`. */
  lost: orNull(Type.Integer()),
});

const Document = form({
  id: Type.Integer(),
  sha256: orNull(Type.String()),
  /** The purpose for which it was asked. */
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
  /** The number of whole months that count. */
  months: Type.Integer(),
  confidence: Type.Number(),
  new_score: orNull(Type.Integer()),
  new_decision: orNull(oneOf(DECISIONS)),
});

/**
 * The debts that count, without a creditor (D52). The sums are exact decimals: `told` by the applicant or an operator,
 * `read` in documents.
 */
const Debts = form({
  told: Type.String(),
  read: Type.String(),
  list: Type.Array(
    form({
      id: Type.Integer(),
      told_by: oneOf(TOLD_BY),
      balance: Type.String(),
      as_of: Type.String(),
      overdue_since: orNull(Type.String()),
    }),
    { maxItems: MOST_DEBTS },
  ),
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

const CorrectedValue = orNull(Type.Union([Type.String(), Type.Number()]));

/** A correction of what was sent. Its event in the timeline says who made it, and why. */
const Correction = form({
  id: Type.Integer(),
  field: oneOf(CORRECTABLE_FIELDS),
  at: Time,
  /** The values; null: there was none, it is personal, or it cannot be read. `reveal` has the personal ones. */
  before: CorrectedValue,
  after: CorrectedValue,
  /** The decision was made with the value before, which is a fact of the score. */
  decided_with_old_value: Type.Boolean(),
});

export const NewCorrection = form({
  field: oneOf(CORRECTABLE_FIELDS),
  value: Type.String({ minLength: 1, maxLength: 400 }),
  reason: Type.String({ minLength: 1, maxLength: 1_000 }),
});

/** A correction that was done, and what it did not change. */
export const Corrected = form({
  correction: Type.Integer(),
  field: oneOf(CORRECTABLE_FIELDS),
  status: oneOf(APPLICATION_STATUSES),
  decided_with_old_value: Type.Boolean(),
  /** What the live policy would decide with all corrected values; null: the field is no fact of the score. */
  decision_now: orNull(form({ policy: Type.String(), score: Type.Integer(), decision: oneOf(DECISIONS) })),
  signed_contract_stays: Type.Boolean(),
});

/** An application on its page. */
export const Application = form({
  id: Type.Integer(),
  /** The number of its last event, as in the `ETag`; 0: nothing has happened since the registration. */
  last_event: Type.String(),
  created_at: Time,
  partner: PartnerName,
  /** null, like the decision and the score: the stored data cannot be read. */
  status: orNull(oneOf(APPLICATION_STATUSES)),
  decision: orNull(oneOf(DECISIONS)),
  score: orNull(Type.Integer()),
  policy_version: Type.String(),
  criteria: Type.Array(Criterion),
  /** The least scores of the two better decisions, by the policy that decided. */
  bands: form({ approved: Type.Integer(), in_review: Type.Integer() }),
  /** The policy's limit of the amount rejected it, not its score. */
  above_limit: Type.Boolean(),
  /** Why the decision is no approval, the most important reason first (D50). */
  reasons: Type.Array(
    form({
      code: Type.String(),
      words: orNull(form({ en: Type.String(), es: Type.String(), pt: Type.String() })),
    }),
  ),
  platform: orNull(Type.String()),
  currency: orNull(Type.String()),
  income: orNull(Type.Number()),
  /** The debt to consolidate, which is the amount that is asked for. */
  debt_amount: orNull(Type.Number()),
  num_debts: orNull(Type.String()),
  debt_age: orNull(Type.String()),
  prior_history: orNull(Type.String()),
  messaging_optin: orNull(Type.Boolean()),
  /** Oldest first. */
  corrections: Type.Array(Correction),
  interested_at: orNull(Time),
  signed_at: orNull(Time),
  withdrawable_until: orNull(Time),
  /**
   * What the contract asks for before a payment and is still missing; null: nothing, or there is no conversation (D46).
   */
  payment_held_by: orNull(oneOf(HELD_BY)),
  offer: orNull(Offer),
  /** null: they cannot be read. */
  debts: orNull(Debts),
  person: MaskedPerson,
  capacity: Capacity,
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
        /** null: it is pended. */
        due_at: orNull(Time),
        claim: orNull(Claim),
        pend: orNull(Pend),
      }),
    ),
  ),
  /** The open proposal, or else the newest one; null: there is none. */
  proposal: Type.Optional(orNull(ListedProposal)),
  /** The reason codes of operators that the file contradicts. */
  contradicted: Type.Array(Contradicted),
});

export const RevealReason = form({ reason: Type.String({ minLength: 5, maxLength: 500 }) });

/** What `reveal` answers. A part is null if it is absent, erased or cannot be read. */
export const Revealed = form({
  name: orNull(Type.String()),
  phone: orNull(Type.String()),
  id_number: orNull(Type.String()),
  city: orNull(Type.String()),
  /** What the partner told about the consent (D53). */
  consent_at: orNull(Type.String()),
  consent_text: orNull(Type.String()),
  consent_channel: orNull(Type.String()),
  /** The values of the corrections of name, ID number and city. */
  corrections: Type.Array(form({ id: Type.Integer(), before: CorrectedValue, after: CorrectedValue })),
  /** Those messages of `chat.messages` that can be rendered. */
  messages: Type.Array(AnnouncedMessage),
  chat: Type.Array(ChatLine),
  /** The statements from which the observed income comes; null: nothing was checked, or it is erased. */
  income: orNull(
    Type.Array(
      form({
        source: Type.String(),
        currency: orNull(Type.String()),
        months: Type.Array(form({ month: Type.String(), amount: Type.Number() })),
      }),
    ),
  ),
  /** Whom the person owes the debts of the page. */
  debts: Type.Array(form({ id: Type.Integer(), creditor: Type.String(), reference: orNull(Type.String()) })),
  /** What the person wrote to ask for a review or for the data (D50). */
  asked: Type.Array(
    form({
      id: Type.Integer(),
      kind: oneOf(CASE_KINDS),
      words: Type.Array(form({ at: Time, text: Type.String() })),
    }),
  ),
});

export type ApplicationReply = Static<typeof Application>;
export type RevealedReply = Static<typeof Revealed>;
export type NoteReply = Static<typeof Note>;
export type CorrectedReply = Static<typeof Corrected>;
export type NewCorrectionBody = Static<typeof NewCorrection>;
