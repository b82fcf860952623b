/** Reads the search for a partner's own applications, and renders its answer (D24, D25, D56). Pure. */
import type { ApplicationId } from '../../domain/application/ids.ts';
import type { Environment } from '../../domain/partner/credential.ts';
import type { Language } from '../../ground/base/language.ts';
import { type ApplicationAnswer, applicationMembers } from './partner-reads.ts';
import { RequestError, readObject } from './request.ts';
import { MAX_FOUND } from './texts.ts';

/** Which applications a search asks for, and which page of them. */
export interface OwnSearch {
  readonly asked: { readonly idNumber: string } | { readonly day: string };
  /** null: the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

const MOST_ID_NUMBER = 64;
const DAY = /^2\d{3}-\d\d-\d\d$/;

/** Reads the body. null is the same as absent, and other members are ignored. Throws `RequestError`. */
export function readOwnSearch(body: Buffer, encoding?: string): OwnSearch {
  const root = readObject(body, encoding, 'bad_search');
  const idNumber = root.id_number ?? root.cedula ?? null;
  const day = root.day ?? null;
  if ((idNumber === null) === (day === null)) throw new RequestError('bad_search');
  const asked = idNumber === null ? { day: readDay(day) } : { idNumber: readIdNumber(idNumber) };
  const { cursor = null, limit } = root;
  if (cursor !== null && typeof cursor !== 'string') throw new RequestError('bad_page_cursor');
  return { asked, cursor, limit: readPageSize(limit ?? MAX_FOUND) };
}

function readIdNumber(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '' || [...text].length > MOST_ID_NUMBER) throw new RequestError('bad_id_number');
  return text;
}

function readDay(value: unknown): string {
  if (typeof value !== 'string' || !DAY.test(value)) throw new RequestError('bad_day');
  const start = new Date(`${value}T00:00:00Z`);
  // JavaScript reads the 30th of February as the 2nd of March.
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== value)
    throw new RequestError('bad_day');
  return value;
}

function readPageSize(value: unknown): number {
  if (!Number.isInteger(value)) throw new RequestError('bad_page_size');
  const limit = value as number;
  if (limit < 1 || limit > MAX_FOUND) throw new RequestError('bad_page_size');
  return limit;
}

/** The members of the answer that differ between the languages (D25). */
export const FOUND_NAMES = { en: 'applications', es: 'aplicaciones' } as const satisfies Record<
  Language,
  string
>;

/** A page of what was found. */
export interface FoundAnswer {
  readonly applications: readonly ApplicationAnswer[];
  /** Applications whose stored data is damaged. */
  readonly unreadable: readonly ApplicationId[];
  /** null: this is the last page. */
  readonly next: string | null;
}

/** The page, as JSON text. */
export function renderFound(
  { applications, unreadable, next }: FoundAnswer,
  language: Language,
  environment: Environment,
): string {
  return JSON.stringify({
    [FOUND_NAMES[language]]: applications.map((one) => applicationMembers(one, language)),
    next,
    ...(environment === 'DEV' ? { mode: 'dev' } : {}),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  });
}
