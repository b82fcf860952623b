/** Reads the fields of a JSON value. Throws `ResponseError` where a value is not as documented. */
import { ResponseError } from './errors.ts';

/** A JSON object whose fields are not read yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value, which must be an object. `name` goes into the error. */
export function object(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected(name);
  return value as JsonObject;
}

/** The value, which must be an array. */
export function list(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpected(name);
  return value;
}

/** The value, which must be a text. */
export function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw unexpected(name);
  return value;
}

/** The texts of an array; none where the value is missing, because an older service does not have it. */
export function texts(value: unknown, name: string): string[] {
  return list(value ?? [], name).map((one) => text(one, name));
}

/** The value, which must be a whole number that JavaScript holds exactly. */
export function integer(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw unexpected(name);
  return value;
}

/** The meaning of the value, which must be a key of `known`. */
export function oneOf<T>(known: Readonly<Record<string, T>>, value: unknown, name: string): T {
  const meaning = typeof value === 'string' && Object.hasOwn(known, value) ? known[value] : undefined;
  if (meaning === undefined) throw unexpected(name);
  return meaning;
}

/** The error about a field. Names the field but not its value, which may be an applicant's. */
export function unexpected(name: string): ResponseError {
  return new ResponseError(`the answer is not as documented: ${name}`);
}
