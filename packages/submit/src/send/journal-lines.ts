/** The lines of a submission's journal: the submission, the sent batches and their answers. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Outcome } from '../../../../client/src/index.ts';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';

/** Changes with the way that rows are cut into batches or digested: the same keys would name other rows. */
const VERSION = 4;

const SETTINGS = '--map, --decimal, --consent-values, --header-row, --encoding, --sheet, --visible-only';
const ANEW: Words = {
  en: 'To begin a new submission, remove that file. Then phones with an open application are refused, but applicants without a phone can be registered twice',
  es: 'Para empezar un envío nuevo, borra ese archivo. Entonces se rechazan los teléfonos con una solicitud abierta, pero quien no tiene teléfono puede quedar registrado dos veces',
};

/** The path of a file's journal. */
export function journalPath(file: string, isSandbox: boolean): string {
  return `${file}.ventanilla-journal${isSandbox ? '-dev' : ''}`;
}

/** The first line: the submission that the journal belongs to. */
export interface Header {
  readonly kind: 'submission';
  readonly version: number;
  readonly id: string;
  readonly file: { readonly size: number; readonly mtime: string; readonly sha256: string };
  readonly url: string;
  /** The partner's country, which tells the currency of a `$`. */
  readonly country: Country | null;
  readonly settings: unknown;
}

/** A batch that was sent. `attempt` is above 1 where the quota left rows of the batch over. */
export interface SentLine {
  readonly kind: 'sent';
  readonly batch: number;
  readonly attempt: number;
  /** Numbers of the first and the last row. */
  readonly rows: readonly [number, number];
  readonly idempotencyKey: string;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** The language that the body asks the answer in. */
  readonly language: Language;
  /** A digest of the API key, which only tells keys apart. */
  readonly sender: string;
  readonly at: string;
}

interface RegisteredPlaces {
  readonly decision: string;
  readonly status: string;
  readonly places: readonly number[];
  readonly ids: readonly (number | null)[];
  readonly scores: readonly number[];
}

/** The answer to a batch. Places count from 0 within the batch. */
export interface AnsweredLine {
  readonly kind: 'answered';
  readonly batch: number;
  readonly attempt: number;
  readonly at: string;
  /** By decision and status: the places, and for each place the application's id (null in the sandbox) and score. */
  readonly registered: readonly RegisteredPlaces[];
  readonly refused: readonly {
    readonly kind: 'duplicate' | 'invalid';
    readonly reason: string;
    readonly places: readonly number[];
  }[];
  /** The places that the quota had no room for. */
  readonly left: readonly number[];
}

/** The last line: every row of the file is settled. */
export interface EndLine {
  readonly kind: 'end';
  readonly at: string;
}

/** The first line of a new journal. */
export function newHeader(source: Source, url: string): Header {
  const { size, mtime, sha256 } = source.file;
  return {
    kind: 'submission',
    version: VERSION,
    id: randomUUID(),
    file: { size, mtime: mtime.toISOString(), sha256 },
    url,
    country: source.country,
    settings: source.settings,
  };
}

/** Throws `BulkError` where the journal at `path` is not of this submission of `file`. */
export function refuseOther(path: string, file: string, before: Header, now: Header): void {
  const refusal = ({ en, es }: Words) =>
    new BulkError({
      en: `${basename(path)} is the record of a submission of ${file}${en} ${ANEW.en}`,
      es: `${basename(path)} es el registro de un envío de ${file}${es} ${ANEW.es}`,
    });
  if (before.kind !== 'submission' || before.version !== VERSION) {
    throw refusal({
      en: ' by another version of this program.',
      es: ' hecho con otra versión de este programa.',
    });
  }
  if (before.file.sha256 !== now.file.sha256) {
    throw refusal({
      en: ', and the file has changed since. Restore the file to go on. Send corrected rows as a file of their own.',
      es: ', y el archivo cambió desde entonces. Restaura el archivo para seguir. Envía las filas corregidas en un archivo aparte.',
    });
  }
  if (before.url !== now.url)
    throw refusal({
      en: ` to ${before.url}, not to ${now.url}.`,
      es: ` a ${before.url}, no a ${now.url}.`,
    });
  if (JSON.stringify(before.settings) !== JSON.stringify(now.settings)) {
    throw refusal({
      en: ` with other options for columns or values (${SETTINGS}). Use the same options to go on.`,
      es: ` con otras opciones de columnas o valores (${SETTINGS}). Usa las mismas opciones para seguir.`,
    });
  }
}

/** A type of a line, with arrays that can grow. */
type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** The journal's line for an answer. `places` are the applications' places within the batch. */
export function answerOf(
  { batch, attempt }: SentLine,
  outcomes: readonly Outcome[],
  places: readonly number[],
  now: Date,
): AnsweredLine {
  const registered = new Map<string, Growing<RegisteredPlaces>>();
  const refused = new Map<string, { kind: 'duplicate' | 'invalid'; reason: string; places: number[] }>();
  const left: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const place = places[index]!;
    if (outcome.kind === 'registered') {
      const { decision, status, id, score } = outcome;
      const none = { decision, status, places: [], ids: [], scores: [] };
      const same = registered.get(`${decision} ${status}`) ?? none;
      same.places.push(place);
      same.ids.push(id);
      same.scores.push(score);
      registered.set(`${decision} ${status}`, same);
    } else if (outcome.kind === 'quota_exceeded') left.push(place);
    else {
      const { kind, error: reason } = outcome;
      const same = refused.get(`${kind} ${reason}`) ?? { kind, reason, places: [] };
      same.places.push(place);
      refused.set(`${kind} ${reason}`, same);
    }
  }
  return {
    kind: 'answered',
    batch,
    attempt,
    at: now.toISOString(),
    registered: [...registered.values()],
    refused: [...refused.values()],
    left,
  };
}
