/** What `ventanilla submit` does before it sends: checks the whole file, shows it and asks. */

import type { Clock } from '../../../../src/ground/base/clock.ts';
import { type Country, isCountry } from '../../../../src/ground/base/country-data.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/printable.ts';
import { type Io, writeOutput } from '../../../../src/program/cli/output.ts';
import { type Check, checkRows } from '../map/check.ts';
import { foldWord } from '../map/fold-word.ts';
import type { Source } from '../map/source.ts';
import { BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import { cutRows, HeldBatches, type RowBatch } from '../send/cut.ts';
import type { RemoteService } from '../send/remote-service.ts';
import { showWords, unsentError, unsentText } from './submit-advice.ts';
import { showChanges, showPhones, showSample } from './submit-preview.ts';
import { count, rowsOf } from './submit-progress.ts';
import { writeFaults } from './submit-summary.ts';
import type { Surroundings } from './submit-terminal.ts';

/** What a submission needs besides its file. */
export interface SendCommand {
  readonly io: Io;
  /** Gets the texts for people. */
  readonly textOutput: Io;
  readonly around: Surroundings;
  readonly clock: Clock;
  readonly json: boolean;
  readonly yes: boolean;
  readonly sandbox: boolean;
  /** The environment's whole URL. */
  readonly url: string;
  readonly apiKey: string;
  /** The path of the results file; null where the person wants none. */
  readonly resultsPath: string | null;
  /** The language of the texts for people. */
  readonly language: Language;
}

/** A checked file with its batches. */
export interface Checked {
  readonly check: Check;
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
}

export type Partner = Awaited<ReturnType<RemoteService['quota']>>;

/**
 * The country by which the service reads the partner's phones. Throws `BulkError` where the person told another one:
 * then phones without country code would be those of other people.
 */
export function countryOf({ partnerCountry }: Partner, told: Country | null): Country | null {
  const known = isCountry(partnerCountry) ? partnerCountry : null;
  if (told === null || told === known) return known;
  throw new BulkError({
    en: `--country ${told}: for the service your partner's country is ${partnerCountry}, and phones without country code are read there. Leave --country out, or write the phones with their country code`,
    es: `--country ${told}: para el servicio el país de tu plataforma es ${partnerCountry}, y los teléfonos sin código de país se leen ahí. Quita --country, o escribe los teléfonos con su código de país`,
  });
}

/**
 * Reads the whole file once. A file that cannot be read to its end is refused before anything is sent. With
 * `environment` the rows are also judged as that environment of the service does.
 */
export async function checkFile(source: Source, environment: 'PRO' | 'DEV' | null): Promise<Checked> {
  const held = new HeldBatches(source);
  // Loaded here, because the rules of phones take longer to load than all the rest.
  const rules = environment === null ? null : await import('../map/rules.ts');
  const judge = rules === null || environment === null ? undefined : rules.serviceRules(source, environment);
  const check = await checkRows(source, { judge, onRow: (row) => held.add(row) });
  if (check.ambiguous !== null) {
    const { row, column } = check.ambiguous;
    throw bulkErrorAt(source.file.file, row, column, {
      en: 'the point or comma of this amount may separate thousands or decimals. Nothing was sent. Add --decimal comma or --decimal point',
      es: 'el punto o la coma de este monto puede separar miles o decimales. No se envió nada. Agrega --decimal comma o --decimal point',
    });
  }
  return { check, batches: held.end() ?? cutRows(source) };
}

const NOTHING_SENT: Words = { en: 'nothing was sent', es: 'no se envió nada' };
/** In either language, and with or without the accent, which not every keyboard has. */
const YES = /^(?:y|yes|s|si)$/;

/** Shows what goes where and asks. Throws `BulkError` where the answer is no, or nobody can answer. */
export async function askToSend(
  source: Source,
  check: Check,
  { partnerName, remaining }: Partner,
  isResumed: boolean,
  { textOutput, around, yes, url }: SendCommand,
): Promise<void> {
  const { language } = source;
  const say = (text: Words) => writeOutput(textOutput, `${text[language]}\n`);
  await writeOutput(textOutput, '\n');
  await showChanges(textOutput, check, language);
  if (around.isTerminal) await showSample(textOutput, source, check.sample);
  await showPhones(textOutput, check, source, around.isTerminal);
  if (check.faults.size > 0) {
    await writeOutput(textOutput, '\n');
    await writeFaults(textOutput, check, language);
    await showWords(textOutput, check, language);
    await writeOutput(textOutput, '\n');
  }
  const rows = rowsOf(check.rows, language);
  const left = remaining === null ? null : count(remaining, language);
  await say({
    en: `${rows} for ${url}, as ${inLine(partnerName)}.${isResumed ? ' The earlier run is resumed.' : ''}${left === null ? '' : ` The quota has room for ${left}.`}`,
    es: `${rows} para ${url}, como ${inLine(partnerName)}.${isResumed ? ' Se retoma el envío anterior.' : ''}${left === null ? '' : ` La cuota tiene espacio para ${left}.`}`,
  });
  const [unreadable, invalid] = [count(check.unreadable, language), count(check.invalid, language)];
  if (check.unreadable > 0)
    await say({
      en: `Rows that cannot be read, and are not sent: ${unreadable}.`,
      es: `Filas que no se pueden leer, y no se envían: ${unreadable}.`,
    });
  if (check.invalid > 0)
    await say({
      en: `Rows that are sent, and that the service will refuse: ${invalid}.`,
      es: `Filas que se envían, y que el servicio rechazará: ${invalid}.`,
    });
  const canAsk = around.isTerminal && !yes;
  const ask = async (question: Words) => {
    const answer = await around.ask(question[language]);
    if (!YES.test(foldWord(answer))) throw new BulkError(NOTHING_SENT);
  };
  if (check.unsent.length > 0) {
    if (!canAsk) throw unsentError(source.file.file, check.unsent);
    const text = unsentText(check.unsent);
    await say({ en: `The file has ${text.en}.`, es: `El archivo: ${text.es}.` });
    await ask({ en: 'Leave them out? (y/n) ', es: '¿Las dejo fuera? (s/n) ' });
  }
  if (yes) return;
  if (!canAsk) {
    throw new BulkError({
      en: 'nothing was sent: there is no terminal to ask on. Check with --dry-run, then add --yes',
      es: 'no se envió nada: no hay una terminal para preguntar. Revisa con --dry-run y luego agrega --yes',
    });
  }
  await ask({ en: 'Send them? (y/n) ', es: '¿Las envío? (s/n) ' });
}
