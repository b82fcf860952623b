/** Parts of the schemas of requests and replies of the operator API. Pure. Times are ISO 8601 with an offset. */
import { type TProperties, type TSchema, Type } from 'typebox';

/** An object without other fields. */
export const form = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const oneOf = <T extends string>(words: readonly T[]) => Type.Unsafe<T>(Type.Enum([...words]));
export const Time = Type.String({ format: 'date-time' });
/** An operator as pages name one. */
export const By = form({ id: Type.Integer(), login: Type.String() });
/** A partner as pages name one. */
export const PartnerName = form({ id: Type.Integer(), name: Type.String() });
