/** `ventanilla submit --dry-run`. */
import { checkRows } from '../bulk/check.ts';
import { RejectedFile } from '../bulk/rejected-file.ts';
import type { Source } from '../bulk/source.ts';
import type { Country } from '../domain/country-data.ts';
import type { Io } from './output.ts';
import { showChanges } from './submit-preview.ts';
import { showProgress } from './submit-progress.ts';
import { writeCheck, writeCheckJson } from './submit-summary.ts';

/** The exit code where some rows were not taken. */
export const REJECTED = 2;

/** Checks every row by the service's rules, without the service. */
export async function dryRun(
  source: Source,
  { io, people, json, country }: { io: Io; people: Io; json: boolean; country: Country | null },
): Promise<void> {
  const { path } = source.file;
  const rejected = new RejectedFile(`${path}.rejected.csv`, source.table.columns, source.delimiter);
  const progress = showProgress(io.stderr, { isTerminal: false, verb: 'Checked', total: null });
  try {
    const check = await checkRows(source, {
      country,
      judged: true,
      onRefused: (row, reason) => rejected.add(row, reason),
      onRow: (rows) => progress.update(rows),
    });
    const written = { path: rejected.path, ...(await rejected.finish()) };
    await showChanges(people, check);
    await writeCheck(people, check, written);
    if (json) await writeCheckJson(io, path, check, written);
    if (check.refused > 0) io.exitCode = REJECTED;
  } finally {
    await rejected.discard();
  }
}
