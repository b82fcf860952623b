/**
 * `ventanilla policy`: lists, shows, adds, compares, activates, withdraws, writes out and reads versions of the policy
 * (D51; docs/policy.md). Each act is recorded; `uses/versions.ts` does the work.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import { FINDINGS, type Finding } from '../../../domain/scorecard/findings.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { named } from '../../../ground/base/named.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, readPositive } from '../../../program/cli/command.ts';
import {
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from '../../../program/cli/output.ts';
import { checkReason, OperatorError } from '../../../program/operations/operator-context.ts';
import { parsePolicy } from '../rules/check-policy.ts';
import { differencesOf, sayings } from '../rules/difference.ts';
import { pmmlOf } from '../rules/pmml.ts';
import { policyOfPmml } from '../rules/pmml-import.ts';
import {
  type Added,
  activateVersion,
  activationsOf,
  addVersion,
  findVersion,
  listVersions,
  type RealFactors,
  type StoredActivation,
  withdrawVersion,
} from '../uses/versions.ts';

interface Options {
  readonly json?: boolean;
}

/** Reads what the terms of loans really cost on a day, `YYYY-MM-DD`. */
export type ReadRealFactors = (cli: Cli, today: string) => Promise<RealFactors>;

/** Adds the commands. `realFactors` reads what the terms of loans really cost (D45). */
export function addPolicyCommands(group: Command, cli: Cli, realFactors: ReadRealFactors) {
  addPolicyList(group, cli);
  addShow(group, cli);
  addAdd(group, cli, realFactors);
  addDiff(group, cli);
  addActivate(group, cli);
  addWithdraw(group, cli);
  addExport(group, cli);
  addImport(group, cli);
}

const VERSION = [
  'version', 'state', 'title', 'sha256', 'added_by', 'added_at', 'accepted', 'activated_at', 'activated_by', 'second', 'reason', 'backtest',
] as const; // biome-ignore format: one list

function addPolicyList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the versions, the live one and who activated it', 'policy list').action(
    ({ json }: Options) =>
      roles.operate(async (context) => {
        const versions = await listVersions(context);
        await writeList(
          io,
          versions,
          { json: json === true, limit: versions.length + 1 },
          {
            columns: [
              { title: 'VERSION', value: ({ version }) => version },
              { title: 'STATE', value: ({ state }) => state },
              { title: 'ACTIVATED', value: ({ activatedAt }) => shortTime(activatedAt) },
              {
                title: 'BY',
                value: ({ activatedBy, second }) =>
                  second === null ? activatedBy : `${activatedBy} and ${second}`,
              },
              { title: 'REASON', value: ({ reason }) => reason },
              { title: 'BACKTEST', value: ({ backtest }) => backtest },
              { title: 'TITLE', value: ({ title }) => title },
            ],
            json: (one) => named(one, VERSION),
            none: 'No policy yet: the first start activates one.',
          },
        );
      }),
  );
}

function addShow(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'show', 'show a version as tables', 'policy show default-2')
    .argument('<version>', 'the version')
    .action((version: string, { json }: Options) =>
      roles.operate(async (context) => {
        const { document, listed } = await findVersion(context, version);
        const activations = await activationsOf(context, version);
        if (json)
          return writeJson(io, {
            ...(listed && named(listed, VERSION)),
            activations: named(activations, 'id at by second reason accepted backtest'),
            document,
          });
        await writeOutput(
          io,
          `${recordOf([
            ['Version', version],
            ['State', listed?.state ?? null],
            ...activations.map((one) => ['Activated', activationText(one)] as const),
          ])}\n`,
        );
        await writeOutput(io, documentText(document));
      }),
    );
}

function activationText({ at, by, second, reason, accepted, backtest }: StoredActivation): string {
  const who = second === null ? by : `${by} and ${second}`;
  const more = [
    ...(accepted.length > 0 ? [`accepted ${accepted.join(', ')}`] : []),
    ...(backtest === null ? [] : [`backtest ${backtest}`]),
  ];
  return `${shortTime(at)} by ${who}: ${reason}${more.length > 0 ? ` (${more.join('; ')})` : ''}`;
}

/** The card as an analyst reads it, without the rates of all currencies. */
function documentText(document: PolicyDocument): string {
  return `${recordOf([...sayings(document)].filter(([place]) => !place.startsWith('rate ')))}\n`;
}

function addAdd(group: Command, cli: Cli, realFactors: ReadRealFactors): void {
  const { roles, io } = cli;
  addCommand(
    group,
    'add',
    'check a policy and make it ready',
    'policy add policy.json --accept contract_bands',
  )
    .argument('<file>', 'the policy in JSON')
    .option('--accept <codes...>', 'warnings that are meant')
    .addOption(actorOption())
    .addHelpText(
      'after',
      '\nAn error refuses the policy. A warning that is not accepted leaves it a draft, and the exit code is 1.',
    )
    .action(
      async (file: string, { json, accept = [], ...who }: Options & ActorOptions & { accept?: string[] }) => {
        const unknown = accept.find((code) => !(code in FINDINGS));
        if (unknown !== undefined) throw new OperatorError(`there is no warning ${unknown}`);
        const content = parsePolicy(await readText(file), file);
        return roles.operate(async (context) => {
          const added = await addVersion(namedBy(who, context), content, accept, (today) =>
            realFactors(cli, today),
          );
          if (added.state === null || added.state === 'draft') io.exitCode = 1;
          const { version, state, findings } = added;
          if (json)
            return writeJson(io, { version, state: state ?? 'refused', findings: findings.map(findingJson) });
          await writeOutput(io, addedText(added));
        });
      },
    );
}

const findingJson = ({ code, severity, place, text }: Finding) => ({ code, severity, place, text });

function addedText({ version, state, findings, open }: Added): string {
  const lines = findings.map(
    ({ code, severity, place, text }) => `${severity} ${code}: ${text} (${place})\n`,
  );
  return lines.join('') + endOf(version, state, open);
}

function endOf(version: string, state: Added['state'], open: Added['open']): string {
  if (state === null) return `Policy ${version} is refused: nothing is stored.\n`;
  if (state === 'draft')
    return `Policy ${version} is a draft. To make it ready, accept its warnings: --accept ${open.join(' ')}\n`;
  return state === 'ready'
    ? `Policy ${version} is ready. It decides after: policy activate ${version} --reason TEXT --yes\n`
    : `Policy ${version} is there already: it is ${state}.\n`;
}

function addDiff(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'diff', 'show what two versions do differently', 'policy diff default-2 strict-1')
    .argument('<before>', 'a version')
    .argument('<after>', 'another version')
    .action((before: string, after: string, { json }: Options) =>
      roles.operate(async (context) => {
        const [a, b] = [await findVersion(context, before), await findVersion(context, after)];
        const differences = differencesOf(a.document, b.document);
        await writeList(
          io,
          differences,
          { json: json === true, limit: differences.length + 1 },
          {
            columns: [
              { title: 'PLACE', value: ({ place }) => place },
              { title: before.toUpperCase(), value: (one) => one.before },
              { title: after.toUpperCase(), value: (one) => one.after },
            ],
            json: (one) => one,
            none: 'Both decide in the same way.',
          },
        );
      }),
    );
}

interface ActivateOptions {
  readonly reason: string;
  readonly backtest?: number;
  readonly yes?: boolean;
}

function addActivate(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'activate',
    'let a version decide from now on; an older version rolls back',
    'policy activate strict-1 --reason "fewer late payers" --yes',
  )
    .argument('<version>', 'a version that is ready or was live')
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--backtest <id>', 'the stored backtest that this rests on', readPositive)
    .option('--yes', 'do it; without it the command says what would change')
    .addOption(actorOption())
    .action(
      (
        version: string,
        { json, reason, backtest, yes = false, ...who }: Options & ActorOptions & ActivateOptions,
      ) =>
        roles.operate(async (context) => {
          const why = checkReason(reason);
          if (!yes) {
            const { listed } = await findVersion(context, version);
            writeNote(
              io,
              `Policy ${version} is ${listed?.state ?? 'a draft'}. With --yes it decides from now on.\n`,
            );
            io.exitCode = 1;
            return;
          }
          const done = await activateVersion(namedBy(who, context), version, why, backtest ?? null);
          if (json) return writeJson(io, { version, before: done.before });
          const before = done.before === null ? '' : `, in place of ${done.before}`;
          await writeOutput(io, `Policy ${version} decides from now on${before}.\n`);
        }),
    );
}

function addWithdraw(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'withdraw',
    'drop a draft, or a ready version that was never live',
    'policy withdraw strict-1',
  )
    .argument('<version>', 'the version')
    .addOption(actorOption())
    .action((version: string, { json, ...who }: Options & ActorOptions) =>
      roles.operate(async (context) => {
        await withdrawVersion(namedBy(who, context), version);
        await (json ? writeJson(io, { version }) : writeOutput(io, `Policy ${version} is withdrawn.\n`));
      }),
    );
}

function addExport(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'export', 'write a version to a file', 'policy export default-2 --file policy.json')
    .argument('<version>', 'the version')
    .option('--file <path>', 'a file in JSON: with another version it can be added again')
    .option('--pmml <path>', 'a file in PMML 4.4, for other programs')
    .action((version: string, { json, file, pmml }: Options & { file?: string; pmml?: string }) =>
      roles.operate(async (context) => {
        if (file === undefined && pmml === undefined)
          throw new OperatorError('name a file: --file or --pmml');
        const { document, constants } = await findVersion(context, version);
        if (file !== undefined) await writeNew(file, jsonOf(document));
        if (pmml !== undefined) await writeNew(pmml, pmmlOf(document, constants));
        const files = [file, pmml].filter((path) => path !== undefined);
        if (json) return writeJson(io, { version, files });
        await writeOutput(io, `Wrote policy ${version} to ${files.join(' and ')}.\n`);
      }),
    );
}

function addImport(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'import',
    'make a policy in JSON of a scorecard in PMML 4.4',
    'policy import scorecard.pmml --base default-2 --as strict-1 --file strict-1.json',
  )
    .argument('<pmml>', 'the scorecard in PMML')
    .requiredOption('--base <version>', 'the version that gives limits, rates, bands, terms and texts')
    .requiredOption('--as <version>', 'the name of the new version')
    .requiredOption('--file <path>', 'where to write it; policy add takes it from there')
    .action(
      (pmml: string, { json, base, as: version, file }: Options & Record<'base' | 'as' | 'file', string>) =>
        roles.operate(async (context) => {
          const document = policyOfPmml(
            await readText(pmml),
            await findVersion(context, base),
            version,
            pmml,
          );
          await writeNew(file, jsonOf(document));
          if (json) return writeJson(io, { version, file });
          await writeOutput(
            io,
            `Wrote policy ${version} to ${file}. To check and store it: policy add ${file}\n`,
          );
        }),
    );
}

/** A document as `policy add` reads it. */
function jsonOf(document: PolicyDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
    throw new ToldError(`${file} cannot be written: ${describeError(error)}`);
  });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ToldError(`${file} cannot be read: ${describeError(error)}`);
  }
}
