/** `ventanilla policy backtest` and `policy backtests` (docs/policy.md, "Backtest"). They need no data key. */
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, readPositive } from '../../../program/cli/command.ts';
import {
  type ListOptions,
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { writeNewFile } from '../../../program/cli/write-new-file.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { backtestPage } from '../rules/backtest-page.ts';
import { type BacktestReport, changesInWords, type Share } from '../rules/backtest-report.ts';
import { LABEL_TITLES, type LabelledBand, type LabelReport, labelWarning } from '../rules/label-report.ts';
import { type StoredReport, storedBacktest, storedBacktests, tryVersion } from '../uses/backtest.ts';
import { sinceOption } from './since-option.ts';

/** Adds both commands to the group `policy`. */
export function addBacktests(group: Command, cli: Cli): void {
  addBacktest(group, cli);
  addStored(group, cli);
}

interface HtmlOptions {
  readonly html?: string;
}

type TryOptions = ListOptions & ActorOptions & HtmlOptions & { readonly since?: string };

const htmlOption = () => new Option('--html <file>', 'also write a page with pictures into a new file');

/** Before a run of minutes, and not after it. */
function refuseFile(path: string | undefined): void {
  if (path !== undefined && existsSync(path)) throw new OperatorError(`${path} is there: name a new file`);
}

async function writePage(path: string | undefined, stored: StoredReport): Promise<void> {
  if (path !== undefined) await writeNewFile(path, Buffer.from(backtestPage(stored)));
}

function addBacktest(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'backtest',
    'say what a version, also a draft, would have decided, and store the result',
    'policy backtest strict-1 --since 2026-11-01',
  )
    .argument('<version>', 'the version')
    .addOption(sinceOption())
    .addOption(htmlOption())
    .addOption(actorOption())
    .action((version: string, { json, since, html, ...who }: TryOptions) =>
      roles.operate(async (context) => {
        refuseFile(html);
        const stored = await tryVersion(namedBy(who, context), version, since ?? null);
        await writePage(html, stored);
        await (json ? writeJson(io, backtestJson(stored)) : writeOutput(io, backtestText(stored)));
      }),
    );
}

function addStored(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'backtests', 'list the stored backtests, or show one', 'policy backtests 7')
    .argument('[id]', 'the number of a backtest', readPositive)
    .addOption(htmlOption())
    .action((id: number | undefined, { json, html }: ListOptions & HtmlOptions) =>
      roles.operate(async (context) => {
        if (id === undefined && html !== undefined)
          throw new OperatorError('--html needs the number of a backtest');
        if (id !== undefined) {
          const stored = await storedBacktest(context, id);
          if (stored === null) throw new OperatorError(`there is no backtest ${id}`);
          await writePage(html, stored);
          return json ? writeJson(io, backtestJson(stored)) : writeOutput(io, backtestText(stored));
        }
        const all = await storedBacktests(context);
        await writeList(
          io,
          all,
          { json: json === true, limit: all.length + 1 },
          {
            columns: [
              { title: 'ID', value: (one) => one.id },
              { title: 'VERSION', value: ({ version }) => version },
              { title: 'AT', value: ({ at }) => shortTime(at) },
              { title: 'BY', value: ({ by }) => by },
              { title: 'SINCE', value: ({ since }) => since },
              { title: 'APPLICATIONS', value: ({ report }) => report.applications },
              {
                title: 'CHANGES',
                value: ({ report }) => changesInWords(report).join(', ') || 'no decision changes',
              },
            ],
            json: backtestJson,
            none: 'No backtest is stored.',
          },
        );
      }),
    );
}

function backtestJson({ report: { reviewsADay, seconds, ...report }, ...stored }: StoredReport) {
  return {
    ...named(stored, 'id version sha256 since at by'),
    ...report,
    ...{ labels: report.labels.map((one) => ({ ...one, warning: labelWarning(one, report) })) },
    ...{ reviews_a_day: reviewsADay, in_words: changesInWords(report), seconds },
  };
}

function backtestText({ id, version, since, report }: StoredReport): string {
  const { applications, matrix, usd, damaged, reviewsADay, reasons } = report;
  const number = `This is backtest ${id}.\n`;
  if (applications === 0) return `No application was registered in this time.\n${number}`;
  const words = changesInWords(report);
  const line = (before: Decision) =>
    [
      before,
      DECISIONS.map((after) => `${after} ${matrix[before][after]} (${money(usd[before][after])} USD)`).join(
        ', ',
      ),
    ] as const;
  const parts = [
    `${counted(applications, 'application')}${since === null ? '' : ` since ${since}`}, decided by ${version}: ${words.length === 0 ? 'no decision changes' : words.join(', ')}.`,
    recordOf(DECISIONS.map(line)),
    recordOf([
      ['reviews a day', `${reviewsADay.before.toFixed(1)} before, ${reviewsADay.after.toFixed(1)} after`],
    ]),
    ...[
      ['By partner', report.partners],
      ['By currency', report.currencies],
      ['By month', report.months],
    ].map(([title, shares]) => `${title}\n${recordOf((shares as Share[]).map(shareLine))}`),
    ...(reasons.length > 0
      ? [
          `Reasons\n${recordOf(reasons.map(({ code, before, after }) => [code, `${before} before, ${after} after`]))}`,
        ]
      : []),
    ...report.labels.map((one) => labelText(one, report)),
    ...(damaged > 0 ? [`${counted(damaged, 'application')} could not be read.`] : []),
    number.trimEnd(),
  ];
  return `${parts.join('\n\n')}\n`;
}

function labelText(label: LabelReport, report: BacktestReport): string {
  const { kind, labelled, bad, gini, ks, bands, decisions } = label;
  const both = ({ before, after }: typeof gini) => `${figure(before)} before, ${figure(after)} after`;
  const line = (prefix: string) => (band: LabelledBand) =>
    [
      `${prefix} ${band.name}`,
      `${percent(band.rate)} bad (${percent(band.low)} to ${percent(band.high)}) of ${band.labelled}`,
    ] as const;
  return `${LABEL_TITLES[kind]}\n${recordOf([
    ['labelled', `${labelled}, ${bad} of them bad`],
    ['Gini', both(gini)],
    ['KS', both(ks)],
    ...bands.map(line('score')),
    ...decisions.map(line('now')),
  ])}\n${labelWarning(label, report)}`;
}

const figure = (value: number | null) => value?.toFixed(3) ?? 'none';

function shareLine({ name, applications, before, rate, low, high }: Share) {
  return [
    name,
    `${percent(before / applications)} approved before, ${percent(rate)} after (${percent(low)} to ${percent(high)}) of ${applications}`,
  ] as const;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const money = (usd: number) => Math.round(usd).toLocaleString('en');
