/** Schemas of the neighbours of an application (docs/operators.md, "Neighbours"). Pure. No member is personal data. */
import { type Static, Type } from 'typebox';
import { APPLICATION_STATUSES } from '../../../domain/application/lifecycle.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';

/** Applications that share something, newest first. */
const FOUND = {
  /** How many there are. 100 stands for 100 and more. */
  count: Type.Integer({ maximum: 100 }),
  applications: Type.Array(
    form({
      id: Type.Integer(),
      partner: PartnerName,
      /** null: the stored data cannot be read. */
      status: orNull(oneOf(APPLICATION_STATUSES)),
      signed_at: orNull(Time),
      created_at: Time,
    }),
    { maxItems: 20 },
  ),
};

export const Neighbours = form({
  same_id_number: form(FOUND),
  same_phone: form(FOUND),
  /** Of the same partner and city, registered within a day before or after. */
  same_city: form({
    ...FOUND,
    /** How many applications of the partner were looked at. */
    looked_at: Type.Integer(),
    /** Whether these are all of the partner within that time. */
    is_whole: Type.Boolean(),
  }),
});

export type NeighboursReply = Static<typeof Neighbours>;
