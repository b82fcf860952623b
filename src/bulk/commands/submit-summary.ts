/** The summary that `ventanilla submit` ends with. */

import { type Io, recordOf, shortTime, writeJson, writeList, writeOutput } from '../../cli/output.ts';
import { inLine } from '../../cli/terminal-text.ts';
import type { Check } from '../map/check.ts';
import { WORD_FIELDS } from '../map/values.ts';
import type { Tally } from '../send/tally.ts';
import { count, rowsOf } from './submit-progress.ts';

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

export async function writeSummary(io: Io, summary: Summary): Promise<void> {
  const { tally, stopped, rejected, inDoubt, resultsPath } = summary;
  const lines: [string, number][] = Object.entries(tally.registered).map(([decision, rows]) => [
    `registered, ${decision}`,
    rows,
  ]);
  if (tally.duplicate > 0) lines.push(['refused, duplicate', tally.duplicate]);
  if (tally.invalid > 0) lines.push(['refused, invalid', tally.invalid]);
  if (tally.unreadable > 0) lines.push(['not sent, a cell cannot be read', tally.unreadable]);
  if (tally.inDoubt > 0) lines.push(['in doubt', tally.inDoubt]);
  if (tally.notSent > 0) lines.push(['not sent yet', tally.notSent]);
  await writeOutput(io, `\n${recordOf(lines.map(([label, rows]) => [label, count(rows)]))}\n`);
  if (resultsPath !== null)
    await writeOutput(io, `\n${inLine(resultsPath)} has one line for each row of the file.\n`);
  await sayRejected(io, rejected);
  await sayInDoubt(io, inDoubt);
  if (stopped === 'quota') await writeOutput(io, `\n${quotaText(summary)}\n`);
  if (stopped === 'interrupted') await writeOutput(io, '\nStopped. Run the same command again to go on.\n');
}

/** The summary of a dry run: counts by fault, and the file with the rejected rows. */
export async function writeCheck(io: Io, { rows, refused, faults }: Check, rejected: Written): Promise<void> {
  await writeOutput(
    io,
    `\n${rowsOf(rows)} checked, ${count(rows - refused)} can be sent, ${count(refused)} cannot.\n`,
  );
  if (faults.size === 0) return sayRejected(io, rejected);
  await writeOutput(io, '\n');
  await writeList(
    io,
    faults.values(),
    { limit: faults.size + 1 },
    {
      columns: [
        { title: 'FAULT', value: ({ text }) => text },
        { title: 'ROWS', value: (fault) => count(fault.count) },
        { title: 'FIRST ROW', value: ({ firstRow }) => count(firstRow) },
      ],
      json: (fault) => fault,
      none: '',
    },
  );
  await sayWords(io, faults);
  await sayRejected(io, rejected);
}

/** Says how words of the file get a value, where the service does not know some. */
async function sayWords(io: Io, faults: Check['faults']): Promise<void> {
  const texts = [...faults.keys()];
  const fields = WORD_FIELDS.filter(({ name }) =>
    texts.some((text) => text.startsWith(`${name} is required and must be `)),
  );
  const [first] = fields;
  if (first === undefined) return;
  const example = `--map "${first.name}:WORD=${first.values.at(-1)}"`;
  const values = fields.map(({ name, values }) => `  ${name}: ${values.join(', ')}\n`).join('');
  await writeOutput(io, `\nTo give a word of the file a value, add ${example}. The values:\n${values}`);
}

export function writeCheckJson(
  io: Io,
  path: string,
  { rows, refused, hidden, faults }: Check,
  rejected: Written,
): Promise<void> {
  return writeJson(io, {
    file: path,
    dry_run: true,
    rows,
    hidden: hidden?.count ?? 0,
    refused,
    faults: Array.from(faults.values(), ({ text, count: found, firstRow }) => ({
      fault: text,
      rows: found,
      first_row: firstRow,
    })),
    rejected_file: rejected.rows > 0 ? rejected.path : null,
  });
}

async function sayRejected(io: Io, { rows, isOld, ...files }: Written): Promise<void> {
  const path = inLine(files.path);
  const kept = files.kept === null ? null : inLine(files.kept);
  if (isOld) await writeOutput(io, `\n${path} is from an earlier run. This run rejected no rows.\n`);
  if (rows === 0) return;
  await writeOutput(
    io,
    `\n${path} has the ${rowsOf(rows)} not taken, with the reasons. Correct them there and submit that` +
      ' file with the same options. Cells that begin with =, +, - or @ have an apostrophe in front, so that' +
      ' spreadsheets run no formula. Submitting the file takes it off again.\n',
  );
  if (kept !== null)
    await writeOutput(
      io,
      `The older ${path} was edited, or another run wrote it. Its name is now ${kept}.\n`,
    );
}

async function sayInDoubt(io: Io, { path, rows }: Written): Promise<void> {
  if (rows === 0) return;
  await writeOutput(
    io,
    `\n${inLine(path)} has the ${rowsOf(rows)} sent without an answer. They are not sent again: too much` +
      ' time has passed for the service to recognise them, or the API key is another one. Ask the operator which' +
      ' of them are registered, and submit the others as a file of their own.\n',
  );
}

function quotaText({ quota, room }: Summary): string {
  const used =
    quota === null || quota.dailyCap === null
      ? 'The daily quota is used up.'
      : `The daily quota is used up: ${count(quota.used24h)} of ${count(quota.dailyCap)} in the last 24 hours.`;
  const when =
    room === null
      ? 'Room comes back 24 hours after each application was registered.'
      : `By ${shortTime(room.at)} at least ${count(room.count)} of them leave the 24 hours, which makes room for as many, unless others use it.`;
  return `${used} ${when} Then run the same command again to go on.`;
}
