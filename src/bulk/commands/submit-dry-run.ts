/** `ventanilla submit --dry-run`. */

import type { Clock } from '../../base/clock.ts';
import type { Country } from '../../base/country-data.ts';
import type { Io } from '../../cli/output.ts';
import { checkRows } from '../map/check.ts';
import { serviceRules } from '../map/rules.ts';
import type { Source } from '../map/source.ts';
import { RejectedFile } from '../send/rejected-file.ts';
import { showChanges } from './submit-preview.ts';
import { showProgress } from './submit-progress.ts';
import { REJECTED, writeCheck, writeCheckJson } from './submit-summary.ts';

interface DryRunCommand {
  readonly io: Io;
  /** Gets the texts for people. */
  readonly textOutput: Io;
  readonly clock: Clock;
  readonly json: boolean;
  readonly sandbox: boolean;
  readonly country: Country | null;
}

/** Checks every row by the service's rules, without the service. Sets the exit code. */
export async function dryRun(
  source: Source,
  { io, textOutput, clock, json, sandbox, country }: DryRunCommand,
): Promise<void> {
  const { path } = source.file;
  const rejected = new RejectedFile(`${path}.rejected.csv`, source.table.columns, source.delimiter);
  const progress = await showProgress(io.stderr, { clock, isTerminal: false, verb: 'Checked', total: null });
  try {
    const check = await checkRows(source, {
      judge: serviceRules(source, country, sandbox ? 'DEV' : 'PRO'),
      onRefused: (row, reason) => rejected.add(row, reason),
      onProgress: (rows) => progress.update(rows),
    });
    const written = { path: rejected.path, ...(await rejected.finish()) };
    await showChanges(textOutput, check);
    await writeCheck(textOutput, check, written);
    if (json) await writeCheckJson(io, path, check, written);
    if (check.refused > 0) io.exitCode = REJECTED;
  } finally {
    await rejected.discard();
  }
}
