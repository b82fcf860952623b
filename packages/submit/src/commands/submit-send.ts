/** `ventanilla submit` without `--dry-run`: check, show, ask, send, sum up. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Clock } from '../../../../src/ground/base/clock.ts';
import { type Country, isCountry } from '../../../../src/ground/base/country-data.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/plain-text.ts';
import { type Io, shortTime, writeNote, writeOutput } from '../../../../src/program/cli/output.ts';
import { type Check, checkRows, refuseEmpty } from '../map/check.ts';
import { foldWord } from '../map/consent.ts';
import type { Source } from '../map/source.ts';
import { BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import { cutRows, HeldBatches, type RowBatch } from '../send/cut.ts';
import { Journal, type JournalOptions, journalPath, lockJournal, lockPath } from '../send/journal.ts';
import { openRemoteService, type RemoteService, textOfClient } from '../send/remote-service.ts';
import { RejectedFile, ResultsFile, refuseResultsPath } from '../send/row-files.ts';
import { sendRows, type Tally } from '../send/send.ts';
import { showChanges, showPhones, showSample, showWords, unsentError, unsentText } from './submit-preview.ts';
import { REJECTED, writeFaults, writeSummary, writeSummaryJson } from './submit-summary.ts';
import { count, INTERRUPTED, rowsOf, type Surroundings, showProgress } from './submit-terminal.ts';

const STOPPED_AT_QUOTA = 3;
/** Batches under way at once. */
const CONCURRENCY = 4;

/**
 * Sends the rows that no earlier run has sent, under the journal's lock. Sets the exit code. Throws where it cannot go
 * on.
 */
export async function send(source: Source<Language>, command: SendCommand): Promise<void> {
  const { io, textOutput, clock, sandbox, url, apiKey, resultsPath, language } = command;
  const service = openRemoteService(url, apiKey, { clock, onWait: sayWaiting(io, clock, language) });
  const path = journalPath(source.file.bytes.path, sandbox);
  const journalOf = (one: Source<Language>) =>
    Journal.open({ path, source: one, url, apiKey, repeatable: sandbox } satisfies JournalOptions);
  const lock = lockJournal(path, source.file.file);
  let journal: Journal | null = null;
  try {
    if (existsSync(path)) journal = await journalOf(source);
    if (resultsPath !== null) {
      const { rejected, inDoubt } = filesBeside(source);
      const taken = [source.file.bytes.path, rejected, inDoubt, path, lockPath(path)];
      await refuseResultsPath(resultsPath, taken, journal !== null);
    }
    // A file without rows is told before the service is asked, which may take a while.
    await refuseEmpty(source);
    const partner = journal?.ended ? null : await service.quota();
    const country = partner === null ? null : countryOf(partner, source.country);
    if (journal !== null && partner !== null && !journal.isResumed) {
      // Nothing was sent: the journal begins again, with the country.
      await journal.close();
      await rm(path);
      journal = null;
    }
    // The rows are read as they were when the submission began.
    const read = source.inCountry(journal === null ? country : journal.country);
    // The rules of phones cost as much as all the rest, so rows are judged where a person looks at them.
    const isShown = partner !== null && !command.yes;
    const { check, batches } = await checkFile(read, isShown ? (sandbox ? 'DEV' : 'PRO') : null);
    if (partner !== null) await askToSend(read, check, partner, journal?.isResumed === true, command);
    else await writeOutput(textOutput, `\n${settledText(journal)[language]}\n`);
    journal ??= await journalOf(read);
    await sendAndSumUp(read, { check, batches }, service, journal, command);
  } finally {
    await journal?.close();
    lock.release();
  }
}

function settledText(journal: Journal | null): Words {
  const time = shortTime(new Date(journal?.ended ?? 0));
  return {
    en: `All rows of this file were settled on ${time}.`,
    es: `Todas las filas de este archivo quedaron resueltas el ${time}.`,
  };
}

const TRYING_AGAIN: Words = { en: 'trying again', es: 'se intenta de nuevo' };

/** A function that tells of a wait. Batches that wait at the same moment get one line together. */
function sayWaiting(io: Io, clock: Clock, language: Language): (delayMs: number, reason: string) => void {
  let quietUntil = 0;
  return (delayMs, reason) => {
    if (clock.monotonicMs() < quietUntil) return;
    quietUntil = clock.monotonicMs() + Math.max(delayMs, 1_000);
    writeNote(io, `${inLine(textOfClient(reason, language))}; ${TRYING_AGAIN[language]}\n`);
  };
}

const STOPPING: Words = {
  en: 'Stopping after the batches under way. Press Ctrl-C again to stop at once.',
  es: 'Se detiene después de los lotes en curso. Presiona Ctrl-C otra vez para detener ya.',
};

async function sendAndSumUp(
  source: Source<Language>,
  { check, batches }: Checked,
  service: RemoteService,
  journal: Journal,
  { io, textOutput, around, clock, json, resultsPath, language }: SendCommand,
): Promise<void> {
  const { path } = source.file.bytes;
  const { columns } = source.table;
  const paths = filesBeside(source);
  const rejected = new RejectedFile(paths.rejected, columns, source.delimiter);
  const inDoubt = new RejectedFile(paths.inDoubt, columns, source.delimiter);
  const results = resultsPath === null ? null : new ResultsFile(resultsPath, source.delimiter);
  const { isTerminal } = around;
  const view = { clock, language, isTerminal, verb: 'sent', total: check.rows } as const;
  const progress = await showProgress(io.stderr, view);
  const interruption = around.interruption(clock);
  interruption.signal.addEventListener('abort', () => writeNote(io, `\n${STOPPING[language]}\n`));
  try {
    const tally = await sendRows({
      batches,
      source,
      totalRows: check.rows,
      journal,
      submitBatch: service.submitBatch,
      files: { rejected, inDoubt, results, language },
      asksIn: language,
      concurrency: CONCURRENCY,
      clock,
      stop: interruption.signal,
      onProgress: ({ rows }) => progress.update(rows),
    });
    progress.stop();
    if (tally.notSent === 0 && journal.ended === null) {
      await journal.add({ kind: 'end', at: new Date(clock.nowMs()).toISOString() });
    }
    await results?.finish();
    const stopped = tally.notSent === 0 ? null : tally.quotaReached ? 'quota' : 'interrupted';
    const summary = {
      path,
      url: service.url,
      tally,
      stopped,
      quota: stopped === 'quota' ? await service.quota().catch(() => null) : null,
      room: stopped === 'quota' ? journal.firstToLeave(new Date(clock.nowMs())) : null,
      rejected: { path: rejected.path, ...(await rejected.finish()) },
      inDoubt: { path: inDoubt.path, ...(await inDoubt.finish()) },
      resultsPath,
      journal: journal.path,
    } as const;
    await writeSummary(textOutput, summary, language);
    if (json) await writeSummaryJson(io, summary);
    io.exitCode = exitCode(tally, stopped);
  } catch (error) {
    if (results?.isFinished) writeNote(io, knownSoFar(results.path)[language]);
    if (journal.isResumed) writeNote(io, goOn(journal.path)[language]);
    throw error;
  } finally {
    progress.stop();
    interruption.release();
    await rejected.discard();
    await inDoubt.discard();
    await results?.discard();
  }
}

function knownSoFar(path: string): Words {
  return {
    en: `${inLine(path)} has what is known so far.\n`,
    es: `${inLine(path)} tiene lo que se sabe hasta ahora.\n`,
  };
}

function goOn(path: string): Words {
  return {
    en: `${inLine(path)} knows what was sent. Run the same command again to go on.\n`,
    es: `${inLine(path)} sabe qué se envió. Ejecuta de nuevo el mismo comando para seguir.\n`,
  };
}

function filesBeside({
  file: {
    bytes: { path },
  },
}: Source<Language>): { readonly rejected: string; readonly inDoubt: string } {
  return { rejected: `${path}.rejected.csv`, inDoubt: `${path}.in-doubt.csv` };
}

function exitCode(tally: Tally, stopped: 'quota' | 'interrupted' | null): number {
  if (stopped === 'interrupted') return INTERRUPTED;
  if (stopped === 'quota') return STOPPED_AT_QUOTA;
  return tally.duplicate + tally.invalid + tally.unreadable + tally.inDoubt > 0 ? REJECTED : 0;
}

// What `ventanilla submit` does before it sends: checks the whole file, shows it and asks.

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
interface Checked {
  readonly check: Check;
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
}

export type Partner = Awaited<ReturnType<RemoteService['quota']>>;

/**
 * The country by which the service reads the partner's phones. Throws `BulkError` where the person told another one:
 * then phones without country code would be those of other people.
 */
function countryOf({ partnerCountry }: Partner, told: Country | null): Country | null {
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
export async function checkFile(
  source: Source<Language>,
  environment: 'PRO' | 'DEV' | null,
): Promise<Checked> {
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
async function askToSend(
  source: Source<Language>,
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
