/** `ventanilla submit` without `--dry-run`: check, show, ask, send, sum up. */
import { existsSync } from 'node:fs';
import { type Check, checkRows } from '../bulk/map/check.ts';
import type { Source } from '../bulk/map/source.ts';
import { BulkError, bulkErrorAt } from '../bulk/read/bulk-error.ts';
import { cutRows, HeldBatches, type RowBatch } from '../bulk/send/cut.ts';
import { Journal, type JournalOptions } from '../bulk/send/journal.ts';
import { journalPath } from '../bulk/send/journal-lines.ts';
import { lockJournal, lockPath } from '../bulk/send/journal-lock.ts';
import { RejectedFile } from '../bulk/send/rejected-file.ts';
import { openRemoteService, type RemoteService } from '../bulk/send/remote-service.ts';
import { ResultsFile, refuseResultsPath } from '../bulk/send/results-file.ts';
import { sendRows } from '../bulk/send/send.ts';
import type { Tally } from '../bulk/send/tally.ts';
import { type Io, shortTime, writeNote, writeOutput } from './output.ts';
import { showChanges, showSample } from './submit-preview.ts';
import { count, showProgress } from './submit-progress.ts';
import { REJECTED, rowsOf, writeSummary, writeSummaryJson } from './submit-summary.ts';
import { INTERRUPTED, type Surroundings } from './submit-terminal.ts';
import { inLine } from './terminal-text.ts';

const STOPPED_AT_QUOTA = 3;
/** Batches under way at once. */
const CONCURRENCY = 4;

interface SendCommand {
  readonly io: Io;
  /** Gets the texts for people. */
  readonly textOutput: Io;
  readonly around: Surroundings;
  readonly json: boolean;
  readonly yes: boolean;
  readonly sandbox: boolean;
  /** The environment's whole URL. */
  readonly url: string;
  /** The path of the results file; null where the person wants none. */
  readonly resultsPath: string | null;
}

/** Sends the rows that no earlier run has sent, under the journal's lock. Sets the exit code. Throws where it cannot go on. */
export async function send(source: Source, command: SendCommand): Promise<void> {
  const { io, textOutput, around, sandbox, url, resultsPath } = command;
  const apiKey = readKey(around);
  const service = openRemoteService(url, apiKey, sayWaiting(io));
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
      const { rejected, doubtful } = filesBeside(source);
      const taken = [
        source.file.path,
        rejected,
        doubtful,
        journalOptions.path,
        lockPath(journalOptions.path),
      ];
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
function sayWaiting(io: Io): (delayMs: number, reason: string) => void {
  let quietUntil = 0;
  return (delayMs, reason) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + Math.max(delayMs, 1_000);
    writeNote(io, `${inLine(reason)}; trying again\n`);
  };
}

function readKey({ env }: Surroundings): string {
  const key = env.VENTANILLA_API_KEY?.trim();
  if (key) return key;
  throw new BulkError('VENTANILLA_API_KEY is not set: put the API key into that environment variable');
}

interface Checked {
  readonly check: Check;
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
}

/** Reads the whole file once. A file that cannot be read to its end is refused before anything is sent. */
async function checkFile(source: Source): Promise<Checked> {
  const held = new HeldBatches(source);
  const check = await checkRows(source, { onRow: (row) => held.add(row) });
  if (check.ambiguous !== null) {
    const { row, column } = check.ambiguous;
    const what =
      'the point or comma of this amount may separate thousands or decimals. Nothing was sent. Add --decimal comma or --decimal point';
    throw bulkErrorAt(source.file.file, row, column, what);
  }
  return { check, batches: held.end() ?? cutRows(source) };
}

async function askToSend(
  source: Source,
  check: Check,
  service: RemoteService,
  journal: Journal | null,
  { textOutput, around, yes }: SendCommand,
): Promise<void> {
  const { partnerName, remaining } = await service.quota();
  await writeOutput(textOutput, '\n');
  await showChanges(textOutput, check);
  if (around.isTerminal) await showSample(textOutput, source, check.sample);
  const again = journal?.isResumed ? ' The earlier run is resumed.' : '';
  const left = remaining === null ? '' : ` The quota has room for ${count(remaining)}.`;
  await writeOutput(
    textOutput,
    `${rowsOf(check.rows)} for ${service.url}, as ${inLine(partnerName)}.${again}${left}\n`,
  );
  if (check.refused > 0)
    await writeOutput(textOutput, `${count(check.refused)} of them cannot be read and are not sent.\n`);
  if (yes) return;
  if (!around.isTerminal) {
    throw new BulkError(
      'nothing was sent: there is no terminal to ask on. Check with --dry-run, then add --yes',
    );
  }
  const answer = await around.ask('Send them? (yes/no) ');
  if (!/^(y|yes|s|si|sí)$/i.test(answer.trim())) throw new BulkError('nothing was sent');
}

async function sendAndSumUp(
  source: Source,
  { check, batches }: Checked,
  service: RemoteService,
  journal: Journal,
  { io, textOutput, around, json, resultsPath }: SendCommand,
): Promise<void> {
  const { path } = source.file;
  const { columns } = source.table;
  const paths = filesBeside(source);
  const rejected = new RejectedFile(paths.rejected, columns, source.delimiter);
  const doubtful = new RejectedFile(paths.doubtful, columns, source.delimiter);
  const results = resultsPath === null ? null : new ResultsFile(resultsPath, source.delimiter);
  const progress = await showProgress(io.stderr, {
    isTerminal: around.isTerminal,
    verb: 'Sent',
    total: check.rows,
  });
  const interruption = around.interruption();
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
      files: { rejected, doubtful, results },
      concurrency: CONCURRENCY,
      stop: interruption.signal,
      onProgress: ({ rows }) => progress.update(rows),
    });
    progress.stop();
    if (tally.notSent === 0 && journal.ended === null) {
      await journal.add({ kind: 'end', at: new Date().toISOString() });
    }
    await results?.finish();
    const stopped = tally.notSent === 0 ? null : tally.quotaReached ? 'quota' : 'interrupted';
    const summary = {
      path,
      url: service.url,
      tally,
      stopped,
      quota: stopped === 'quota' ? await service.quota().catch(() => null) : null,
      room: stopped === 'quota' ? journal.firstToLeave(new Date()) : null,
      rejected: { path: rejected.path, ...(await rejected.finish()) },
      doubtful: { path: doubtful.path, ...(await doubtful.finish()) },
      resultsPath,
      journal: journal.path,
    } as const;
    await writeSummary(textOutput, summary);
    if (json) await writeSummaryJson(io, summary);
    io.exitCode = exitCode(tally, stopped);
  } catch (error) {
    if (journal.isResumed)
      writeNote(io, `${inLine(journal.path)} knows what was sent. Run the same command again to go on.\n`);
    throw error;
  } finally {
    progress.stop();
    interruption.release();
    await rejected.discard();
    await doubtful.discard();
    await results?.discard();
  }
}

function filesBeside({ file: { path } }: Source): { readonly rejected: string; readonly doubtful: string } {
  return { rejected: `${path}.rejected.csv`, doubtful: `${path}.in-doubt.csv` };
}

function exitCode(tally: Tally, stopped: 'quota' | 'interrupted' | null): number {
  if (stopped === 'interrupted') return INTERRUPTED;
  if (stopped === 'quota') return STOPPED_AT_QUOTA;
  return tally.duplicate + tally.invalid + tally.unreadable + tally.doubtful > 0 ? REJECTED : 0;
}
