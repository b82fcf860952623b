/** `ventanilla report`: the business in numbers (docs/business.md). Reads only, and needs no data key. */
import type { Command } from 'commander';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { type Cli, choiceOption, readDay } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import { type Io, writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { csvLine, PERIODS, type Period, type ReportRow } from '../rules/report-row.ts';
import { recount } from '../uses/recount.ts';
import { type AskedReport, MEMBERS, readWaitsReport, reportRows, WAITS_MEMBERS } from '../uses/report.ts';

const HELP = `
Days, weeks (from Monday on) and months are in UTC; a report begins with the period that has the day of --since.
Registrations and decisions count when they were registered, everything else when it happened. Amounts are exact.
--waits shows the median times between steps, which are known to a tenth, in place of the counts.
--recount compares the counts with the stored applications and events; the exit code is 1 where they differ.`;

interface Options {
  readonly by: Period;
  readonly since?: string;
  readonly partner?: PartnerId;
  readonly csv?: boolean;
  readonly json?: boolean;
  readonly waits?: boolean;
  readonly recount?: boolean;
}

/** Fills the command. */
export function fillReport(command: Command, { roles, io }: Cli): void {
  command
    .addOption(choiceOption('--by <period>', 'rows of a', PERIODS).default('day' satisfies Period))
    .option('--since <day>', 'from the period of this day on: YYYY-MM-DD; default: 30 days ago', readDay)
    .option('--partner <id>', 'only rows of this partner', readPartnerId)
    .option('--csv', 'write CSV, for spreadsheets')
    .option('--waits', 'the median times between steps')
    .option('--recount', 'compare the counts with what they were counted from')
    .addHelpText('after', HELP)
    .action((options: Options) => {
      if (options.csv === true && options.json === true)
        throw new OperatorError('--csv and --json exclude each other');
      if (options.recount === true) {
        if (options.csv === true) throw new OperatorError('--recount has no --csv');
        if (options.waits === true) throw new OperatorError('--recount and --waits exclude each other');
        return roles.operate(async (context) =>
          writeRecount(io, await recount(context), options.json === true),
        );
      }
      return roles.operate((context) => {
        const { database } = context;
        const { by, since = null, partner: partnerId = null } = options;
        if (options.waits === true) return writeWaits(io, context, { by, since, partnerId }, options);
        return writeReport(io, reportRows(database, { by, since, partnerId }), options);
      });
    });
}

async function writeReport(io: Io, rows: AsyncIterable<ReportRow>, { csv, json }: Options): Promise<void> {
  if (csv === true) {
    await writeOutput(io, csvLine(MEMBERS));
    for await (const row of rows) await writeOutput(io, csvLine(MEMBERS.map((name) => row[name])));
    return;
  }
  const column = (title: string, name: keyof ReportRow) => ({
    title,
    value: (row: ReportRow) => row[name] ?? '',
  });
  await writeList(
    io,
    rows,
    { json: json === true, limit: Number.POSITIVE_INFINITY },
    {
      columns: [
        column('PERIOD', 'period'),
        column('PARTNER', 'partner_id'),
        column('COUNTRY', 'country'),
        column('CURRENCY', 'currency'),
        column('REGISTERED', 'registered'),
        column('REFUSED', 'refused'),
        column('APPROVED', 'approved'),
        column('IN REVIEW', 'in_review'),
        column('REJECTED', 'rejected'),
        {
          title: 'RATE',
          value: ({ approval_rate: rate }) => (rate === null ? '' : `${(rate * 100).toFixed(1)} %`),
        },
        column('STARTED', 'started'),
        column('DOCUMENTS', 'documents'),
        column('OFFERED', 'offered'),
        column('SIGNED', 'signed'),
        column('WITHDRAWN', 'withdrawn'),
        column('DISBURSED', 'disbursed'),
        column('AMOUNT', 'amount_registered'),
        column('PAID OUT', 'amount_disbursed'),
      ],
      json: (row) => row,
      none: 'Nothing is counted in this time.',
    },
  );
}

async function writeWaits(
  io: Io,
  { database }: OperatorContext,
  asked: AskedReport,
  { csv, json }: Options,
): Promise<void> {
  const rows = await readWaitsReport(database, asked);
  if (csv === true) {
    await writeOutput(io, csvLine(WAITS_MEMBERS));
    for (const row of rows) await writeOutput(io, csvLine(WAITS_MEMBERS.map((name) => row[name])));
    return;
  }
  const all = { json: json === true, limit: Number.POSITIVE_INFINITY };
  await writeList(io, rows, all, {
    columns: [
      { title: 'PERIOD', value: (row) => row.period },
      { title: 'PARTNER', value: (row) => row.partner_id },
      { title: 'COUNTRY', value: (row) => row.country },
      { title: 'STEP', value: (row) => row.step },
      { title: 'TIMES', value: (row) => row.times },
      { title: 'MEDIAN SECONDS', value: (row) => row.median_seconds },
    ],
    json: (row) => row,
    none: 'No times are counted in this time.',
  });
}

/** Lines of differences for a person. */
const MOST = 20;

async function writeRecount(
  io: Io,
  { applications, events, differences }: Awaited<ReturnType<typeof recount>>,
  json: boolean,
): Promise<void> {
  if (differences.length > 0) io.exitCode = 1;
  if (json) {
    // Amounts in minor units may be larger than the numbers of JSON.
    const told = differences.map((one) => ({ ...one, counted: `${one.counted}`, found: `${one.found}` }));
    const all = { ok: told.length === 0, applications: Number(applications), events: Number(events) };
    const names = [
      'ok applications events',
      { differences: 'day partner_id currency count counted found' },
    ] as const;
    return writeJson(io, named({ ...all, differences: told }, names));
  }
  const compared = `${counted(Number(applications), 'application')} and ${counted(Number(events), 'event')}`;
  if (differences.length === 0) return writeOutput(io, `The counts are those of ${compared}.\n`);
  const lines = differences.slice(0, MOST).map(({ day, partnerId, currency, count, ...one }) => {
    const of = [
      partnerId === null ? '' : ` of partner ${partnerId}`,
      currency === null ? '' : ` in ${currency}`,
    ];
    return `${day}: ${count}${of.join('')} is ${one.counted}, and ${one.found} were found\n`;
  });
  await writeOutput(
    io,
    `${lines.join('')}Counted again from ${compared}: ${counted(differences.length, 'count differs', 'counts differ')}.\n`,
  );
}
