/** Schemas of the search (docs/operators.md, "Find"). Pure. Persons are masked: initials and ends of numbers. */
import { type Static, Type } from 'typebox';
import { APPLICATION_STATUSES } from '../../../domain/application/lifecycle.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';

/** The body: what the operator typed. It may be personal data, so it is never part of an address. */
export const Search = form({ q: Type.String({ minLength: 1, maxLength: 200 }) });

/** By what something was found. `number`: the number of the application. */
export const Matched = Type.Array(oneOf(['number', 'phone', 'id_number']));

/** What tells two persons apart: initials, and the last two characters of phone and ID number. */
export const MaskedPerson = form({
  /** null, as the next two: it is erased, or cannot be read. */
  initials: orNull(Type.String()),
  phone: orNull(Type.String()),
  id_number: orNull(Type.String()),
});

/** What a row of every list of applications has. */
export const ROW = {
  id: Type.Integer(),
  partner: PartnerName,
  /** null, as the next three: the stored data cannot be read. */
  status: orNull(oneOf(APPLICATION_STATUSES)),
  score: orNull(Type.Integer()),
  currency: orNull(Type.String()),
  debt_amount: orNull(Type.Number()),
  created_at: Time,
};

export const Found = form({
  /** That with the number first, then the newest; 50 at most. */
  applications: Type.Array(form({ ...ROW, matched: Matched, person: MaskedPerson })),
  /** The persons of these applications: those with the same ID number in any spelling (D49) are one person. */
  persons: Type.Array(
    form({
      ...MaskedPerson.properties,
      /** The newest application of the person, which leads to the person's page. */
      application: Type.Integer(),
      matched: Matched,
      /** How many of the applications that were found. */
      applications: Type.Integer(),
    }),
  ),
  /** Those with the text in their name; the first 10 by name. */
  partners: Type.Array(PartnerName),
  /** Those with the text in their login; the first 10 by login. */
  operators: Type.Array(By),
  /** There are more applications than these. */
  more: Type.Boolean(),
});

export type FoundReply = Static<typeof Found>;
