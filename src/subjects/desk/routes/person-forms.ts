/** Schemas of a person's page (docs/operators.md, "A person"). Pure. Persons are masked. */
import { type Static, Type } from 'typebox';
import { HOLDERS, PLACES } from '../../../domain/conversation/places.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { MaskedPerson, Matched, ROW } from './search-forms.ts';

const PersonApplication = form({
  ...ROW,
  signed_at: orNull(Time),
  /** What it shares with the application of the address, which alone has `number`. */
  matched: Matched,
  person: MaskedPerson,
  /** The newest; null: there is none. */
  chat: orNull(
    form({ step: oneOf(PLACES), held_by: oneOf(HOLDERS), began_at: Time, ended_at: orNull(Time) }),
  ),
  /** How many files the applicant sent. */
  documents: Type.Integer(),
  /** The state of the newest contract; null: there is none. */
  contract: orNull(oneOf(['open', 'signed', 'withdrawn', 'expired'])),
  /** When somebody exported what is stored about it, and who. */
  exports: Type.Array(form({ at: Time, by: Type.String() })),
});

export const Person = form({
  /** Newest first; 101 at most. */
  applications: Type.Array(PersonApplication),
  /** There are more applications than these. */
  more: Type.Boolean(),
  /** Of the phone: whether it gets messages, who asked for that and when. */
  suppressions: Type.Array(form({ is_active: Type.Boolean(), source: Type.String(), changed_at: Time })),
  /** When data of the phone was erased. */
  erased_at: Type.Array(Time),
});

export type PersonReply = Static<typeof Person>;
