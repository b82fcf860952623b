/** What `ventanilla submit` does before it sends: checks the whole file, shows it and asks. */

import type { Clock } from '../../base/clock.ts';
import { type Io, writeOutput } from '../../cli/output.ts';
import { inLine } from '../../cli/terminal-text.ts';
import { type Check, checkRows } from '../map/check.ts';
import type { Source } from '../map/source.ts';
import { BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import { cutRows, HeldBatches, type RowBatch } from '../send/cut.ts';
import type { Journal } from '../send/journal.ts';
import type { RemoteService } from '../send/remote-service.ts';
import { showChanges, showSample } from './submit-preview.ts';
import { count, rowsOf } from './submit-progress.ts';
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
}

/** A checked file with its batches. */
export interface Checked {
  readonly check: Check;
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
}

/** Reads the whole file once. A file that cannot be read to its end is refused before anything is sent. */
export async function checkFile(source: Source): Promise<Checked> {
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

/** Shows what goes where and asks. Throws `BulkError` where the answer is no, or nobody can answer. */
export async function askToSend(
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
