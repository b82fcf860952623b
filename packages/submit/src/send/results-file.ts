/**
 * Writes the results file: one line for each row of the file of applicants, in its order. Every run writes the results
 * file anew from the journal and its own answers. So a run after `kill -9` completes the file, and loses no answer.
 */
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Words } from '../../../../src/ground/base/language.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { CutRow } from './cut.ts';
import { UnfinishedCsv } from './unfinished-csv.ts';

const COLUMNS = ['row', 'id_number', 'outcome', 'id', 'score', 'decision', 'status', 'reason'] as const;
/** A byte order mark and the first columns with any delimiter. */
const BEGINNING = /^\ufeffrow[,;\t]id_number[,;\t]outcome[,;\t]/;
const BEGINNING_BYTES = 64;

/** What became of a row. The outcomes have the names of the JSON summary. */
export type RowResult =
  | {
      readonly outcome: 'registered';
      /** null in the sandbox. */
      readonly id: number | null;
      readonly score: number;
      readonly decision: string;
      readonly status: string;
    }
  | {
      readonly outcome: 'duplicate' | 'invalid' | 'unreadable' | 'in_doubt' | 'not_sent';
      /** Empty for a row that was not sent at all. */
      readonly reason: string;
    };

export class ResultsFile {
  readonly path: string;
  /** True once the file is in its place. */
  isFinished = false;
  readonly #csv: UnfinishedCsv;

  constructor(path: string, delimiter: string) {
    this.path = path;
    this.#csv = new UnfinishedCsv(path, delimiter);
  }

  async add({ number, echo }: CutRow, result: RowResult): Promise<void> {
    if (!this.#csv.isBegun) await this.#csv.line(COLUMNS);
    const { outcome } = result;
    const rest =
      outcome === 'registered'
        ? [String(result.id ?? ''), String(result.score), result.decision, result.status, '']
        : ['', '', '', '', result.reason];
    await this.#csv.line([String(number), echo ?? '', outcome, ...rest]);
  }

  /** Puts the file in its place. */
  async finish(): Promise<void> {
    if (!this.#csv.isBegun) await this.#csv.line(COLUMNS);
    await this.#csv.close();
    await this.#csv.publish();
    this.isFinished = true;
  }

  /** Removes an unfinished file. */
  async discard(): Promise<void> {
    await this.#csv.discard();
  }
}

/**
 * Throws `BulkError` where the results must not go to `path`: the submission uses the path for another file (`taken`),
 * or a file is there that no earlier run of this submission wrote.
 */
export async function refuseResultsPath(
  path: string,
  taken: readonly string[],
  isResumed: boolean,
): Promise<void> {
  const file = basename(path);
  const refuse = ({ en, es }: Words) =>
    new BulkError({
      en: `--results ${file}: ${en}. Choose another name`,
      es: `--results ${file}: ${es}. Elige otro nombre`,
    });
  if (taken.some((other) => resolve(other) === resolve(path)))
    throw refuse({ en: 'it is a file of the submission', es: 'es un archivo del propio envío' });
  const stats = await stat(path).catch(() => null);
  if (stats === null) {
    await access(dirname(resolve(path)), constants.W_OK).catch(() => {
      throw refuse({
        en: 'its folder does not exist or may not be written',
        es: 'su carpeta no existe o no se puede escribir en ella',
      });
    });
    return;
  }
  if (!stats.isFile() || !(await isResults(path)))
    throw refuse({
      en: 'it exists and is not a results file',
      es: 'existe y no es un archivo de resultados',
    });
  if (!isResumed)
    throw refuse({
      en: 'it has the results of another submission',
      es: 'tiene los resultados de otro envío',
    });
}

async function isResults(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return BEGINNING.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}
