/** The summary that `ventanilla submit` ends with. */
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/plain-text.ts';
import {
  type Io,
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../../src/program/cli/output.ts';
import type { Check } from '../map/check.ts';
import type { Source } from '../map/source.ts';
import { optionsFor } from '../map/words.ts';
import type { Tally } from '../send/send.ts';
import { showWords } from './submit-preview.ts';
import { count, rowsOf } from './submit-terminal.ts';

/** The exit code after rows were rejected. */
export const REJECTED = 2;

/** A file of rows that this run wrote; `kept` is the new path of an older file that somebody edited. */
interface Written {
  readonly path: string;
  readonly rows: number;
  readonly kept: string | null;
  /** True where the file is from an earlier run and this run wrote none. */
  readonly isOld: boolean;
}

interface Summary {
  readonly path: string;
  readonly url: string;
  readonly tally: Tally;
  readonly stopped: 'quota' | 'interrupted' | null;
  readonly quota: { readonly used24h: number; readonly dailyCap: number | null } | null;
  /** The latest time at which rows of this submission leave the quota's window, and how many rows. */
  readonly room: { readonly at: Date; readonly count: number } | null;
  readonly rejected: Written;
  readonly inDoubt: Written;
  /** null where the person wants no results file. */
  readonly resultsPath: string | null;
  readonly journal: string;
}

export function writeSummaryJson(
  io: Io,
  { path, url, tally, stopped, quota, room, resultsPath, ...files }: Summary,
): Promise<void> {
  return writeJson(io, {
    file: path,
    url,
    rows: tally.rows,
    registered: tally.registered,
    duplicate: tally.duplicate,
    invalid: tally.invalid,
    unreadable: tally.unreadable,
    in_doubt: tally.inDoubt,
    not_sent: tally.notSent,
    stopped,
    used_24h: quota?.used24h ?? null,
    daily_cap: quota?.dailyCap ?? null,
    room_at: room?.at.toISOString() ?? null,
    rejected_file: files.rejected.rows > 0 ? files.rejected.path : null,
    in_doubt_file: files.inDoubt.rows > 0 ? files.inDoubt.path : null,
    results_file: resultsPath,
    journal: files.journal,
  });
}

/** The decisions as the summary shows them in Spanish. */
const DECISIONS: Readonly<Record<string, string>> = {
  approved: 'aprobadas',
  in_review: 'en revisión',
  rejected: 'rechazadas',
};

export async function writeSummary(io: Io, summary: Summary, language: Language): Promise<void> {
  const { tally, stopped, rejected, inDoubt, resultsPath } = summary;
  const lines: [Words, number][] = Object.entries(tally.registered).map(([decision, rows]) => [
    { en: `registered, ${decision}`, es: `registradas, ${DECISIONS[decision] ?? decision}` },
    rows,
  ]);
  lines.push(
    [{ en: 'refused, duplicate', es: 'rechazadas, duplicadas' }, tally.duplicate],
    [{ en: 'refused, invalid', es: 'rechazadas, no válidas' }, tally.invalid],
    [
      { en: 'not sent, a cell cannot be read', es: 'no enviadas, una celda no se puede leer' },
      tally.unreadable,
    ],
    [{ en: 'in doubt', es: 'en duda' }, tally.inDoubt],
    [{ en: 'not sent yet', es: 'aún no enviadas' }, tally.notSent],
  );
  const shown = lines.filter(([, rows]) => rows > 0);
  await writeOutput(
    io,
    `\n${recordOf(shown.map(([label, rows]) => [label[language], count(rows, language)]))}\n`,
  );
  const oneEach: Words = {
    en: 'has one line for each row of the file.',
    es: 'tiene una línea por cada fila del archivo.',
  };
  if (resultsPath !== null) await writeOutput(io, `\n${inLine(resultsPath)} ${oneEach[language]}\n`);
  await sayRejected(io, rejected, language);
  await sayInDoubt(io, inDoubt, language);
  const interrupted: Words = {
    en: 'Stopped. Run the same command again to go on.',
    es: 'Detenido. Ejecuta de nuevo el mismo comando para seguir.',
  };
  if (stopped === 'quota') await writeOutput(io, `\n${quotaText(summary)[language]}\n`);
  if (stopped === 'interrupted') await writeOutput(io, `\n${interrupted[language]}\n`);
}

/** The summary of a dry run: counts by fault, and the file with the rejected rows. */
export async function writeCheck(io: Io, check: Check, rejected: Written, language: Language): Promise<void> {
  const refused = check.unreadable + check.invalid;
  const rows = rowsOf(check.rows, language);
  const [can, cannot] = [count(check.rows - refused, language), count(refused, language)];
  const text: Words = {
    en: `${rows} checked, ${can} can be sent, ${cannot} cannot.`,
    es: `${rows} en total. Se pueden enviar: ${can}. No se pueden enviar: ${cannot}.`,
  };
  await writeOutput(io, `\n${text[language]}\n`);
  if (check.faults.size > 0) {
    await writeOutput(io, '\n');
    await writeFaults(io, check, language);
    await showWords(io, check, language);
  }
  await sayRejected(io, rejected, language);
}

const FAULT_TITLES = { en: ['FAULT', 'ROWS', 'FIRST ROW'], es: ['ERROR', 'FILAS', 'PRIMERA FILA'] } as const;

/** A table of the faults: how many rows have each, and which one is the first. */
export function writeFaults(io: Io, { faults }: Check, language: Language): Promise<void> {
  const [fault, rows, first] = FAULT_TITLES[language];
  return writeList(
    io,
    faults.values(),
    { limit: faults.size + 1 },
    {
      columns: [
        { title: fault, value: ({ text }) => text },
        { title: rows, value: (one) => count(one.count, language) },
        { title: first, value: ({ firstRow }) => count(firstRow, language) },
      ],
      json: (one) => one,
      none: '',
    },
  );
}

export function writeCheckJson(
  io: Io,
  { file, table }: Source<Language>,
  check: Check,
  rejected: Written,
): Promise<void> {
  const { rows, unreadable, invalid, hidden, faults, words, unsent } = check;
  return writeJson(io, {
    file: file.bytes.path,
    dry_run: true,
    rows,
    hidden: hidden?.count ?? 0,
    refused: unreadable + invalid,
    faults: Array.from(faults.values(), ({ text, count: found, firstRow }) => ({
      fault: text,
      rows: found,
      first_row: firstRow,
    })),
    unknown_words: words.all.map(([field, found]) => ({
      field,
      words:
        found?.map(({ word, rows: inRows, firstRow }) => ({ word, rows: inRows, first_row: firstRow })) ??
        null,
      options: found === null ? [] : optionsFor(field, found),
    })),
    unsent_columns: unsent.map(({ column, options }) => ({ column: table.columns[column], options })),
    rejected_file: rejected.rows > 0 ? rejected.path : null,
  });
}

async function sayRejected(io: Io, { rows, isOld, ...files }: Written, language: Language): Promise<void> {
  const path = inLine(files.path);
  const kept = files.kept === null ? null : inLine(files.kept);
  const say = (text: Words) => writeOutput(io, `${text[language]}\n`);
  if (isOld)
    await say({
      en: `\n${path} is from an earlier run. This run rejected no rows.`,
      es: `\n${path} es de una ejecución anterior. Esta no rechazó filas.`,
    });
  if (rows === 0) return;
  const all = rowsOf(rows, language);
  await say({
    en: `\n${path} has the ${all} not taken, with the reasons. Correct them there and submit that file with the same options. Cells that begin with =, +, - or @ have an apostrophe in front, so that spreadsheets run no formula. Submitting the file takes it off again.`,
    es: `\n${path} tiene ${all} sin aceptar, con los motivos. Corrígelas ahí y envía ese archivo con las mismas opciones. Las celdas que empiezan con =, +, - o @ llevan un apóstrofo delante, para que la hoja de cálculo no ejecute fórmulas. Al enviar el archivo se quita.`,
  });
  if (kept !== null)
    await say({
      en: `The older ${path} was edited, or another run wrote it. Its name is now ${kept}.`,
      es: `El ${path} anterior fue editado, o lo escribió otra ejecución. Ahora se llama ${kept}.`,
    });
}

async function sayInDoubt(io: Io, { path, rows }: Written, language: Language): Promise<void> {
  if (rows === 0) return;
  const [name, all] = [inLine(path), rowsOf(rows, language)];
  const text: Words = {
    en: `${name} has the ${all} sent without an answer. They are not sent again: too much time has passed for the service to recognise them, or the API key is another one. Ask the operator which of them are registered, and submit the others as a file of their own.`,
    es: `${name} tiene ${all} que se enviaron sin recibir respuesta. No se envían otra vez: pasó demasiado tiempo para que el servicio las reconozca, o la API key es otra. Pregunta al operador cuáles quedaron registradas y envía las demás en un archivo aparte.`,
  };
  await writeOutput(io, `\n${text[language]}\n`);
}

function quotaText({ quota, room }: Summary): Words {
  const number = (language: Language) => (value: number) => count(value, language);
  const [en, es] = [number('en'), number('es')];
  const used: Words =
    quota === null || quota.dailyCap === null
      ? { en: 'The daily quota is used up.', es: 'La cuota diaria se agotó.' }
      : {
          en: `The daily quota is used up: ${en(quota.used24h)} of ${en(quota.dailyCap)} in the last 24 hours.`,
          es: `La cuota diaria se agotó: ${es(quota.used24h)} de ${es(quota.dailyCap)} en las últimas 24 horas.`,
        };
  const when: Words =
    room === null
      ? {
          en: 'Room comes back 24 hours after each application was registered.',
          es: 'El espacio vuelve 24 horas después del registro de cada solicitud.',
        }
      : {
          en: `By ${shortTime(room.at)} at least ${en(room.count)} of them leave the 24 hours, which makes room for as many, unless others use it.`,
          es: `A las ${shortTime(room.at)} a más tardar, al menos ${es(room.count)} salen de las 24 horas y dejan espacio para otras tantas, si nadie más lo usa.`,
        };
  return {
    en: `${used.en} ${when.en} Then run the same command again to go on.`,
    es: `${used.es} ${when.es} Entonces ejecuta de nuevo el mismo comando para seguir.`,
  };
}
