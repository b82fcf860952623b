/** The limits and terms of cases (D50; docs/reconsiderations.md, "Terms"). Pure. */
import type { CaseKind } from '../../../domain/application/cases.ts';
import type { WithdrawalPeriod } from '../../../domain/loan/withdrawal.ts';
import type { Country } from '../../../ground/base/country-data.ts';

/** The most characters (code points) of an answer: with the text around it, it is one message of the channel. */
export const MOST_ANSWER_CHARACTERS = 500;
/** What is kept of the words of a person in one case. Later words are not kept. */
export const MOST_WORDS = 20;
const MOST_WORD_CHARACTERS = 1_000;

/** What is sealed of a case. */
export interface CaseContent {
  /** What the person wrote, the oldest first; times in milliseconds by the channel's clock. */
  readonly words: readonly { readonly atMs: number; readonly text: string }[];
  /** null: the case is open. */
  readonly answer: string | null;
}

/** The content with more words, each once and within the limits. */
export function withWords(content: CaseContent, more: CaseContent['words']): CaseContent {
  const words = [...content.words];
  for (const { atMs, text } of more) {
    const kept = { atMs, text: text.slice(0, MOST_WORD_CHARACTERS).toWellFormed() };
    if (words.length >= MOST_WORDS || words.some((one) => one.atMs === atMs && one.text === kept.text))
      continue;
    words.push(kept);
  }
  return { ...content, words };
}

// The terms.

/** A term is counted as the period of a withdrawal is. */
type Period = WithdrawalPeriod;

interface LegalTerm extends Period {
  /** The law that gives the term. */
  readonly source: string;
}

/**
 * The terms within which a request for one's data has to be answered, by the country of the phone. Another country has
 * the operator's setting (`DATA_REQUEST_DAYS`). Whether a case of a country is longer or shorter, such as after an
 * extension that the law allows, only counsel can say.
 */
export const DATA_TERMS: Readonly<Partial<Record<Country, LegalTerm>>> = {
  CO: { days: 10, kind: 'business', source: 'Ley 1581 de 2012, artículo 14 (consultas)' },
  BR: { days: 15, kind: 'calendar', source: 'Lei 13.709/2018 (LGPD), artigo 19, II (declaração completa)' },
  MX: {
    days: 20,
    kind: 'business',
    source: 'Ley Federal de Protección de Datos Personales en Posesión de los Particulares',
  },
};

/** The zones whose wall clocks end a term; elsewhere it ends in UTC. */
const ZONES: Readonly<Partial<Record<Country, string>>> = {
  AR: 'America/Argentina/Buenos_Aires',
  BR: 'America/Sao_Paulo',
  CL: 'America/Santiago',
  CO: 'America/Bogota',
  MX: 'America/Mexico_City',
  PE: 'America/Lima',
};

/** The wall clock by which the terms of a country end. */
export function zoneOf(country: Country | null): string {
  return (country === null ? undefined : ZONES[country]) ?? 'UTC';
}

/** The settings of an operator, in working days. */
export interface TermDays {
  readonly reconsideration: number;
  readonly data: number;
}

/** The term of a case by its kind and the country of the phone. */
export function termOf(kind: CaseKind, country: Country | null, days: TermDays): Period {
  const legal = kind === 'data' && country !== null ? DATA_TERMS[country] : undefined;
  return legal ?? { days: days[kind], kind: 'business' };
}
