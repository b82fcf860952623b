/**
 * Schemas that several routes of the accounts share, for requests and answers (docs/operators.md, "The operator API").
 * Pure.
 */
import { type TProperties, Type } from 'typebox';
import { ROLES } from '../../../domain/operator/authority.ts';

/** An object without other fields. */
export function Strict<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** A password as somebody typed it. The rules of passwords hold where one is chosen. */
export const GivenPassword = Type.String({ minLength: 1, maxLength: 1_024 });

/** A login, a code or a token. */
export const ShortText = Type.String({ minLength: 1, maxLength: 128 });

export const Nothing = Strict({});

/** Who is signed in, and what the operator may do. */
export const SignedIn = Strict({
  id: Type.Integer(),
  login: Type.String(),
  role: Type.Enum([...ROLES]),
  authority: Type.Record(Type.String(), Type.String(), {
    description: 'The largest amount, by currency, that the operator decides alone.',
  }),
  proved_seconds_ago: Type.Integer({ description: 'Since both factors were proved last.' }),
  signs_in_with: Type.Enum(['password', 'oidc']),
  has_app: Type.Boolean({ description: 'Whether the account has an authenticator app.' }),
  oidc: Type.Boolean({ description: 'Whether sign-in by OpenID Connect is set up here.' }),
});

/** The ways to sign in, and which step of the sign-in this browser has reached. */
export const WaysIn = Strict({
  offered: Type.Boolean(),
  name: Type.Union([Type.String(), Type.Null()], { description: 'The host of the identity provider.' }),
  needs_code: Type.Boolean({ description: 'This browser has proved its first factor.' }),
  login: Type.Union([Type.String(), Type.Null()], {
    description: 'Whose code it has to give; null: nobody’s.',
  }),
});

/** Where the browser has to go. */
export const AtProvider = Strict({ url: Type.String() });

/** What the identity provider sends by the browser: parameters of its own too. */
export const ProviderAnswer = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String())]),
);

/** The address for an authenticator app. */
export const LinkUsable = Strict({ login: Type.String() });

export const EnrolmentBegun = Strict({ login: Type.String(), totp: Type.String() });

export const EnrolmentEnded = Strict({ login: Type.String(), recovery_codes: Type.Array(Type.String()) });
