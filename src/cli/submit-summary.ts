/** What `ventanilla submit` says at its end. */
import type { Check } from '../bulk/map/check.ts';
import type { Tally } from '../bulk/send/send.ts';
import { type Io, recordOf, shortTime, writeJson, writeList, writeOutput } from './output.ts';
import { count } from './submit-progress.ts';
import { inLine } from './terminal-text.ts';

/** The exit code where some rows were not taken. */
export const REJECTED = 2;

/** A file that was written: its path, and where an edited older one went. */
export interface Written {
  readonly path: string;
  readonly rows: number;
  readonly kept: string | null;
  /** True where the file is an earlier run's, and this one wrote none. */
  readonly isOld: boolean;
}

interface Summary {
  readonly path: string;
  readonly url: string;
  readonly tally: Tally;
  readonly stopped: 'quota' | 'interrupted' | null;
  readonly quota: { readonly used24h: number; readonly dailyCap: number | null } | null;
  /** When rows of this submission leave the quota's window at the latest, and how many. */
  readonly room: { readonly at: Date; readonly count: number } | null;
  readonly rejected: Written;
  readonly doubtful: Written;
  readonly journal: string;
}

export function writeSummaryJson(
  io: Io,
  { path, url, tally, stopped, quota, room, ...files }: Summary,
): Promise<void> {
  return writeJson(io, {
    file: path,
    url,
    rows: tally.rows,
    registered: tally.registered,
    duplicate: tally.duplicate,
    invalid: tally.invalid,
    unreadable: tally.unreadable,
    in_doubt: tally.doubtful,
    not_sent: tally.notSent,
    stopped,
    used_24h: quota?.used24h ?? null,
    daily_cap: quota?.dailyCap ?? null,
    room_at: room?.at.toISOString() ?? null,
    rejected_file: files.rejected.rows > 0 ? files.rejected.path : null,
    in_doubt_file: files.doubtful.rows > 0 ? files.doubtful.path : null,
    journal: files.journal,
  });
}

export async function writeSummary(io: Io, summary: Summary): Promise<void> {
  const { tally, stopped, rejected, doubtful } = summary;
  const lines: [string, number][] = Object.entries(tally.registered).map(([decision, rows]) => [
    `registered, ${decision}`,
    rows,
  ]);
  if (tally.duplicate > 0) lines.push(['refused, duplicate', tally.duplicate]);
  if (tally.invalid > 0) lines.push(['refused, invalid', tally.invalid]);
  if (tally.unreadable > 0) lines.push(['not sent, a cell cannot be read', tally.unreadable]);
  if (tally.doubtful > 0) lines.push(['not known', tally.doubtful]);
  if (tally.notSent > 0) lines.push(['not sent yet', tally.notSent]);
  if (lines.length === 0) lines.push(['rows', 0]);
  await writeOutput(io, `\n${recordOf(lines.map(([label, rows]) => [label, count(rows)]))}\n`);
  await sayRejected(io, rejected);
  await sayDoubtful(io, doubtful);
  if (stopped === 'quota') await writeOutput(io, `\n${quotaText(summary)}\n`);
  if (stopped === 'interrupted') await writeOutput(io, '\nStopped. Run the same command again to go on.\n');
}

/** The dry run's: counts by fault, and where the rows are. */
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
  await sayRejected(io, rejected);
}

export function writeCheckJson(
  io: Io,
  path: string,
  { rows, refused, faults }: Check,
  rejected: Written,
): Promise<void> {
  return writeJson(io, {
    file: path,
    dry_run: true,
    rows,
    refused,
    faults: Array.from(faults.values(), ({ text, count: found, firstRow }) => ({
      fault: text,
      rows: found,
      first_row: firstRow,
    })),
    rejected_file: rejected.rows > 0 ? rejected.path : null,
  });
}

/** `1 row`, `1,234 rows`. */
export function rowsOf(rows: number): string {
  return `${count(rows)} row${rows === 1 ? '' : 's'}`;
}

async function sayRejected(io: Io, { rows, isOld, ...files }: Written): Promise<void> {
  const path = inLine(files.path);
  const kept = files.kept === null ? null : inLine(files.kept);
  if (isOld) await writeOutput(io, `\n${path} is of an earlier run: this one has nothing for it.\n`);
  if (rows === 0) return;
  await writeOutput(
    io,
    `\n${path} has the ${rowsOf(rows)} not taken, with the reasons. Correct them there and submit that` +
      ' file with the same options. An apostrophe stands before cells that begin with =, +, - or @, so that' +
      ' spreadsheets run no formula; it is taken off again when the file is read.\n',
  );
  if (kept !== null)
    await writeOutput(
      io,
      `The ${path} that was there is another: you edited it, or another run wrote it. It is now ${kept}.\n`,
    );
}

async function sayDoubtful(io: Io, { path, rows }: Written): Promise<void> {
  if (rows === 0) return;
  await writeOutput(
    io,
    `\n${inLine(path)} has the ${rowsOf(rows)} sent without an answer. Nothing of it is sent again: too much` +
      ' time has passed for the service to know them again, or the API key is another one. Ask the operator which' +
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
      : `From ${shortTime(room.at)} on at least ${count(room.count)} of them are out of the 24 hours, and there is room for as many, unless others use it.`;
  return `${used} ${when} Run the same command again then: it goes on where it stopped.`;
}
