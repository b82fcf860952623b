/** The forms of requests and answers about partners and keys (docs/operators.md, "Partners"). Pure. */
import { type Static, Type } from 'typebox';
import { ENVIRONMENTS } from '../../../domain/partner/credential.ts';
import { LANGUAGE_SETTINGS } from '../../../ground/base/language.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';

export const MOST_PARTNERS = 100;
export const MOST_REFUSALS = 200;

const Count = Type.Integer({ minimum: 0 });
const Id = Type.Integer({ minimum: 1 });
const PARTNER = {
  id: Id,
  name: Type.String(),
  /** ISO 3166-1 alpha-2. */
  country: Type.String(),
  created_at: Time,
  /** null: it is open. */
  closed_at: orNull(Time),
};
const LISTED = {
  ...PARTNER,
  live_keys: Count,
  /** The registrations of the last 24 hours, over all its keys. */
  used_24h: Count,
  /** The largest cap of a live key for production; null: one has none, or there is no such key. */
  daily_cap: orNull(Count),
  /** Applications that were refused in the hours that began in the last 24 hours. */
  refused_24h: Count,
};

export const Partner = form(PARTNER);
export const Partners = form({
  /** The newest first. */
  partners: Type.Array(form(LISTED)),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});
export type PartnersReply = Static<typeof Partners>;

const KEY = {
  id: Id,
  /** Its first characters: they recognise it, and are no secret. */
  hint: Type.String(),
  partner: PartnerName,
  /** null: both. */
  environment: orNull(oneOf(ENVIRONMENTS)),
  language: oneOf(LANGUAGE_SETTINGS),
  /** Applications in any 24 hours; null: no cap. */
  daily_cap: orNull(Count),
  /** `forged`: somebody without the keys of this service changed its row; it can only be revoked. */
  status: oneOf(['live', 'expired', 'revoked', 'forged'] as const),
  created_at: Time,
  /** Of a rotated key: until then it works beside its successor. */
  expires_at: orNull(Time),
  revoked_at: orNull(Time),
};

export const Key = form(KEY);

export const ShownPartner = form({
  ...LISTED,
  fetched_at: Time,
  /** Seconds until more of the quota is free; null: nothing is used. */
  reset_seconds: orNull(Count),
  /** The newest first, dead ones too. */
  keys: Type.Array(
    form({
      ...KEY,
      /** What is left of its cap now; null: it has none. */
      remaining: orNull(Count),
      /** When a request came with it last; null: none has since this is noted. */
      last_used_at: orNull(Time),
    }),
  ),
});
export type PartnerReply = Static<typeof ShownPartner>;

/** A key that was just made. */
export const IssuedKey = form({
  ...KEY,
  /** The key itself: this answer alone has it, and nothing stores it. */
  api_key: Type.String(),
});
export type IssuedKeyReply = Static<typeof IssuedKey>;

export const RotatedKey = form({
  ...KEY,
  api_key: Type.String(),
  replaces: form({ id: Id, expires_at: Time }),
});

export const ClosedPartner = form({ ...PARTNER, keys_revoked: Count });

export const Refusals = form({
  /** By key and hour of UTC, the newest first, of the last 30 days. */
  refusals: Type.Array(
    form({
      hour: Time,
      key_id: Id,
      hint: Type.String(),
      registered: Count,
      duplicate: Count,
      over_quota: Count,
      invalid: Count,
      /** Requests with the key after its end, or to the other environment. */
      unauthorized: Count,
      /** When the hour first looked like a sweep of phones; null: it does not. */
      sweep_at: orNull(Time),
    }),
  ),
  /** There are older hours. */
  more: Type.Boolean(),
});
export type RefusalsReply = Static<typeof Refusals>;

export const PageQuery = form({
  cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_PARTNERS })),
});

const Name = Type.String({ minLength: 1, maxLength: 1_000 });
export const NewPartner = form({ name: Name, country: Type.String({ minLength: 2, maxLength: 2 }) });
export const NewName = form({ name: Name });

const Cap = orNull(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }));
export const NewKey = form({
  /** The only environment of the key; null or absent: both. */
  environment: Type.Optional(orNull(oneOf(ENVIRONMENTS))),
  language: Type.Optional(oneOf(LANGUAGE_SETTINGS)),
  daily_cap: Type.Optional(Cap),
});
export const NewCap = form({ daily_cap: Cap });
/** How long the old key still works: `30m`, `24h`, `7d`, at most `30d`, or `0`. */
export const Rotation = form({ overlap: Type.Optional(Type.String({ minLength: 1, maxLength: 10 })) });
export const Nothing = form({});
