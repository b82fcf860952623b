/** `ventanilla submit --dry-run`. */
import type { Clock } from '../../../../src/ground/base/clock.ts';
import type { Language } from '../../../../src/ground/base/language.ts';
import type { Io } from '../../../../src/program/cli/output.ts';
import { checkRows } from '../map/check.ts';
import { serviceRules } from '../map/rules.ts';
import type { Source } from '../map/source.ts';
import { RejectedFile } from '../send/row-files.ts';
import { showChanges, showPhones, unsentError } from './submit-preview.ts';
import { REJECTED, writeCheck, writeCheckJson } from './submit-summary.ts';
import { showProgress } from './submit-terminal.ts';

interface DryRunCommand {
  readonly io: Io;
  /** Gets the texts for people. */
  readonly textOutput: Io;
  readonly clock: Clock;
  readonly json: boolean;
  readonly sandbox: boolean;
  readonly isTerminal: boolean;
}

/**
 * Checks every row by the service's rules, without the service. Sets the exit code. Throws `BulkError` at its end where
 * a column looks like a field and is not sent.
 */
export async function dryRun(
  source: Source<Language>,
  { io, textOutput, clock, json, sandbox, isTerminal }: DryRunCommand,
): Promise<void> {
  const { language } = source;
  const { file, bytes } = source.file;
  const rejected = new RejectedFile(`${bytes.path}.rejected.csv`, source.table.columns, source.delimiter);
  const view = { clock, language, isTerminal: false, verb: 'checked', total: null } as const;
  const progress = await showProgress(io.stderr, view);
  try {
    const check = await checkRows(source, {
      judge: serviceRules(source, sandbox ? 'DEV' : 'PRO'),
      onRefused: (row, reason) => rejected.add(row, reason),
      onProgress: (rows) => progress.update(rows),
    });
    const written = { path: rejected.path, ...(await rejected.finish()) };
    await showChanges(textOutput, check, language);
    await showPhones(textOutput, check, source, isTerminal);
    await writeCheck(textOutput, check, written, language);
    if (json) await writeCheckJson(io, source, check, written);
    if (check.unreadable + check.invalid > 0) io.exitCode = REJECTED;
    if (check.unsent.length > 0) throw unsentError(file, check.unsent);
  } finally {
    await rejected.discard();
  }
}
