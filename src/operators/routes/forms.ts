/** Parts of the forms of requests and answers. */
import { type TProperties, Type } from 'typebox';

/** An object without other fields. */
export function Strict<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** A login, a code or a token. */
export const ShortText = Type.String({ minLength: 1, maxLength: 128 });

export const Nothing = Strict({});
