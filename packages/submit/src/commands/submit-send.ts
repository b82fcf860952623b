/** `ventanilla submit` without `--dry-run`: check, show, ask, send, sum up. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Clock } from '../../../../src/ground/base/clock.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/printable.ts';
import { type Io, shortTime, writeNote, writeOutput } from '../../../../src/program/cli/output.ts';
import { refuseEmpty } from '../map/check.ts';
import type { Source } from '../map/source.ts';
import { Journal, type JournalOptions } from '../send/journal.ts';
import { journalPath } from '../send/journal-lines.ts';
import { lockJournal, lockPath } from '../send/journal-lock.ts';
import { openRemoteService, type RemoteService } from '../send/remote-service.ts';
import { ResultsFile, refuseResultsPath } from '../send/results-file.ts';
import { RejectedFile } from '../send/row-files.ts';
import { sendRows } from '../send/send.ts';
import { textOfClient } from '../send/service-error.ts';
import type { Tally } from '../send/tally.ts';
import { askToSend, type Checked, checkFile, countryOf, type SendCommand } from './submit-ask.ts';
import { showProgress } from './submit-progress.ts';
import { REJECTED, writeSummary, writeSummaryJson } from './submit-summary.ts';
import { INTERRUPTED } from './submit-terminal.ts';

const STOPPED_AT_QUOTA = 3;
/** Batches under way at once. */
const CONCURRENCY = 4;

/**
 * Sends the rows that no earlier run has sent, under the journal's lock. Sets the exit code. Throws where it cannot go
 * on.
 */
export async function send(source: Source, command: SendCommand): Promise<void> {
  const { io, textOutput, clock, sandbox, url, apiKey, resultsPath, language } = command;
  const service = openRemoteService(url, apiKey, { clock, onWait: sayWaiting(io, clock, language) });
  const path = journalPath(source.file.path, sandbox);
  const journalOf = (one: Source) =>
    Journal.open({ path, source: one, url, apiKey, repeatable: sandbox } satisfies JournalOptions);
  const lock = lockJournal(path, source.file.file);
  let journal: Journal | null = null;
  try {
    if (existsSync(path)) journal = await journalOf(source);
    if (resultsPath !== null) {
      const { rejected, inDoubt } = filesBeside(source);
      const taken = [source.file.path, rejected, inDoubt, path, lockPath(path)];
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
  source: Source,
  { check, batches }: Checked,
  service: RemoteService,
  journal: Journal,
  { io, textOutput, around, clock, json, resultsPath, language }: SendCommand,
): Promise<void> {
  const { path } = source.file;
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

function filesBeside({ file: { path } }: Source): { readonly rejected: string; readonly inDoubt: string } {
  return { rejected: `${path}.rejected.csv`, inDoubt: `${path}.in-doubt.csv` };
}

function exitCode(tally: Tally, stopped: 'quota' | 'interrupted' | null): number {
  if (stopped === 'interrupted') return INTERRUPTED;
  if (stopped === 'quota') return STOPPED_AT_QUOTA;
  return tally.duplicate + tally.invalid + tally.unreadable + tally.inDoubt > 0 ? REJECTED : 0;
}
