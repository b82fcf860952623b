/** `ventanilla submit` without `--dry-run`: check, show, ask, send, sum up. */
import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { type Io, shortTime, writeNote, writeOutput } from '../../cli/output.ts';
import { inLine } from '../../cli/terminal-text.ts';
import type { Source } from '../map/source.ts';
import { Journal, type JournalOptions } from '../send/journal.ts';
import { journalPath } from '../send/journal-lines.ts';
import { lockJournal, lockPath } from '../send/journal-lock.ts';
import { RejectedFile } from '../send/rejected-file.ts';
import { openRemoteService, type RemoteService } from '../send/remote-service.ts';
import { ResultsFile, refuseResultsPath } from '../send/results-file.ts';
import { sendRows } from '../send/send.ts';
import type { Tally } from '../send/tally.ts';
import { askToSend, type Checked, checkFile, type SendCommand } from './submit-ask.ts';
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
  const { io, textOutput, clock, sandbox, url, apiKey, resultsPath } = command;
  const service = openRemoteService(url, apiKey, { clock, onWait: sayWaiting(io, clock) });
  const journalOptions: JournalOptions = {
    path: journalPath(source.file.path, sandbox),
    source,
    url,
    apiKey,
    repeatable: sandbox,
  };
  const lock = lockJournal(journalOptions.path, source.file.file);
  let journal: Journal | null = null;
  try {
    if (existsSync(journalOptions.path)) journal = await Journal.open(journalOptions);
    if (resultsPath !== null) {
      const { rejected, inDoubt } = filesBeside(source);
      const taken = [source.file.path, rejected, inDoubt, journalOptions.path, lockPath(journalOptions.path)];
      await refuseResultsPath(resultsPath, taken, journal !== null);
    }
    const { check, batches } = await checkFile(source);
    if (journal !== null && journal.ended !== null) {
      await writeOutput(
        textOutput,
        `\nAll rows of this file were settled on ${shortTime(new Date(journal.ended))}.\n`,
      );
    } else {
      await askToSend(source, check, service, journal, command);
    }
    journal ??= await Journal.open(journalOptions);
    await sendAndSumUp(source, { check, batches }, service, journal, command);
  } finally {
    await journal?.close();
    lock.release();
  }
}

/** A function that tells of a wait. Batches that wait at the same moment get one line together. */
function sayWaiting(io: Io, clock: Clock): (delayMs: number, reason: string) => void {
  let quietUntil = 0;
  return (delayMs, reason) => {
    if (clock.monotonicMs() < quietUntil) return;
    quietUntil = clock.monotonicMs() + Math.max(delayMs, 1_000);
    writeNote(io, `${inLine(reason)}; trying again\n`);
  };
}

async function sendAndSumUp(
  source: Source,
  { check, batches }: Checked,
  service: RemoteService,
  journal: Journal,
  { io, textOutput, around, clock, json, resultsPath }: SendCommand,
): Promise<void> {
  const { path } = source.file;
  const { columns } = source.table;
  const paths = filesBeside(source);
  const rejected = new RejectedFile(paths.rejected, columns, source.delimiter);
  const inDoubt = new RejectedFile(paths.inDoubt, columns, source.delimiter);
  const results = resultsPath === null ? null : new ResultsFile(resultsPath, source.delimiter);
  const progress = await showProgress(io.stderr, {
    clock,
    isTerminal: around.isTerminal,
    verb: 'Sent',
    total: check.rows,
  });
  const interruption = around.interruption(clock);
  interruption.signal.addEventListener('abort', () => {
    writeNote(io, '\nStopping after the batches under way. Press Ctrl-C again to stop at once.\n');
  });
  try {
    const tally = await sendRows({
      batches,
      source,
      totalRows: check.rows,
      journal,
      submitBatch: service.submitBatch,
      files: { rejected, inDoubt, results },
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
    await writeSummary(textOutput, summary);
    if (json) await writeSummaryJson(io, summary);
    io.exitCode = exitCode(tally, stopped);
  } catch (error) {
    if (results?.isFinished) writeNote(io, `${inLine(results.path)} has what is known so far.\n`);
    if (journal.isResumed)
      writeNote(io, `${inLine(journal.path)} knows what was sent. Run the same command again to go on.\n`);
    throw error;
  } finally {
    progress.stop();
    interruption.release();
    await rejected.discard();
    await inDoubt.discard();
    await results?.discard();
  }
}

function filesBeside({ file: { path } }: Source): { readonly rejected: string; readonly inDoubt: string } {
  return { rejected: `${path}.rejected.csv`, inDoubt: `${path}.in-doubt.csv` };
}

function exitCode(tally: Tally, stopped: 'quota' | 'interrupted' | null): number {
  if (stopped === 'interrupted') return INTERRUPTED;
  if (stopped === 'quota') return STOPPED_AT_QUOTA;
  return tally.duplicate + tally.invalid + tally.unreadable + tally.inDoubt > 0 ? REJECTED : 0;
}
