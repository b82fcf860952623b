/**
 * Sends examples/batch.json to a running service and shows the outcome of each application (`npm run demo`). With
 * `--until signed` it registers one application instead and plays its applicant until the contract is signed; with
 * `--until disbursed` two operators then pay it out.
 *
 * `VENTANILLA_URL` is the URL to send to (default: `PORT` and `BASE_PATH` of this machine). `VENTANILLA_API_KEY` is the
 * key; without it the demo reads `demo-key` under `DATA_DIR` (default ./data), which the service writes on its first
 * start. With `NO_COLOR` there are no colours. `VENTANILLA_SIMULATOR_URL` is the URL of the simulator's page (default:
 * `OPS_PORT` of this machine). As for the service, variables may stand in `.env`. The exit code is 0 where the batch
 * was answered with 200, or with `--until` where it came so far; else 1. `--within SECONDS` gives the
 * chat another time than 80 seconds, and each of its requests as much.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';
import Table from 'cli-table3';
import { call, DemoError, endpoint, ROOT, readKey, readVariables, simulatorPage } from './demo/service.ts';
import { untilDisbursed } from './demo/until-disbursed.ts';
import { untilSigned } from './demo/until-signed.ts';

interface Result {
  id_number: string;
  name: string;
  score: number;
  decision: 'approved' | 'in_review' | 'rejected';
}
interface Failure {
  id_number: string | null;
  error: string;
}
interface Answer {
  processed: number;
  errors: number;
  results: Result[];
  errors_detail?: Failure[];
  mode?: 'dev';
}
interface Quota {
  partner: { name: string; daily_cap: number | null; used_24h: number; remaining: number | null };
}
type Submitted = { name?: string; id_number?: string } | null;

const COLOURS = { approved: 'green', in_review: 'yellow', rejected: 'red', error: 'magenta' } as const;
type Outcome = keyof typeof COLOURS;

/**
 * Outcomes by position. Both lists keep the order of submission (D15), so the next entry of one of them belongs to the
 * next application; `id_number` says which list it is. This works where all ID numbers of the batch differ.
 */
function byPosition(submitted: readonly Submitted[], answer: Answer): (Result | Failure | undefined)[] {
  const results = [...answer.results];
  const failures = [...(answer.errors_detail ?? [])];
  return submitted.map((application) => {
    const registered = results[0] !== undefined && results[0].id_number === application?.id_number;
    return registered ? results.shift() : failures.shift();
  });
}

function show(submitted: readonly Submitted[], answer: Answer): void {
  const table = new Table({
    head: ['#', 'id_number', 'name', 'outcome', 'score or reason'],
    colAligns: ['right'],
    style: { head: [], border: [], compact: true },
  });
  const totals = new Map<Outcome, number>();
  byPosition(submitted, answer).forEach((entry, i) => {
    if (entry === undefined) return;
    const outcome: Outcome = 'decision' in entry ? entry.decision : 'error';
    totals.set(outcome, (totals.get(outcome) ?? 0) + 1);
    table.push([
      i + 1,
      entry.id_number ?? '',
      submitted[i]?.name ?? '',
      styleText(COLOURS[outcome], outcome),
      'score' in entry ? scoreText(entry) : entry.error,
    ]);
  });
  console.log(table.toString());
  const parts = (Object.keys(COLOURS) as Outcome[]).map(
    (outcome) => `${styleText(COLOURS[outcome], outcome)} ${totals.get(outcome) ?? 0}`,
  );
  console.log(`\n${parts.join(', ')}: ${answer.processed} registered, ${answer.errors} not`);
}

/** With a score of 30 or more, only the amount rejects an application (contract, "Outcome at creation"). */
function scoreText({ score, decision }: Result): string {
  return decision === 'rejected' && score >= 30 ? `${score}, amount above the limit` : String(score);
}

function showQuota({ partner }: Quota): void {
  const cap =
    partner.daily_cap === null ? 'no daily cap' : `${partner.remaining} of ${partner.daily_cap} left`;
  console.log(`Quota of ${partner.name}: ${partner.used_24h} used in the last 24 hours, ${cap}`);
}

async function showOutcomes(url: URL, key: string): Promise<void> {
  const body = await readFile(join(ROOT, 'examples', 'batch.json'), 'utf8');
  const { applications } = JSON.parse(body) as { applications: Submitted[] };

  const startedMs = performance.now();
  const answer = await call<Answer>(url, key, body);
  const tookMs = performance.now() - startedMs;

  show(applications, answer);
  console.log(`${applications.length} applications sent to ${url} and answered in ${tookMs.toFixed(0)} ms`);
  // The batch is registered by now, so a quota that cannot be read is a line, not a failure.
  await call<Quota>(url, key).then(showQuota, (error: Error) => console.log(`Quota: ${error.message}`));
  console.log(
    answer.mode === 'dev'
      ? 'This was a simulation: nothing was stored and no message sent.'
      : 'Run it again, and every phone with an open application comes back as a duplicate.',
  );
}

const USAGE = `Usage: npm run demo                        sends a hundred applicants and shows what became of each
       npm run demo -- --until signed     plays one applicant until the contract is signed; --within SECONDS
                                          after it gives the chat more time than 80 seconds, on a busy machine
       npm run demo -- --until disbursed  also pays the loan out, before the end of the time to withdraw

Variables, which may stand in .env: PORT, BASE_PATH, OPS_PORT and DATA_DIR as the service has them, or in their place
VENTANILLA_URL, VENTANILLA_SIMULATOR_URL and VENTANILLA_API_KEY; NO_COLOR.`;

async function main([option, until, ...rest]: readonly string[]): Promise<void> {
  if (option === undefined) return showOutcomes(endpoint(), await readKey());
  if (option === '--help' || option === '-h') return console.log(USAGE);
  if (option !== '--until') throw new DemoError(`unknown argument '${option}'\n\n${USAGE}`);
  if (until !== 'signed' && until !== 'disbursed')
    throw new DemoError(`--until must be: signed, disbursed\n\n${USAGE}`);
  const limitMs = readLimitMs(rest);
  const play = until === 'signed' ? untilSigned : untilDisbursed;
  await play(endpoint(), await readKey(), simulatorPage(), limitMs);
}

/** Undefined without `--within`. */
function readLimitMs([option, seconds = '', ...rest]: readonly string[]): number | undefined {
  if (option === undefined) return undefined;
  const unknown = option === '--within' ? rest[0] : option;
  if (unknown !== undefined) throw new DemoError(`unknown argument '${unknown}'\n\n${USAGE}`);
  if (!/^[1-9]\d{0,4}$/.test(seconds))
    throw new DemoError(`--within must be whole seconds, such as 300\n\n${USAGE}`);
  return Number(seconds) * 1_000;
}

try {
  readVariables();
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof DemoError ? error.message : error);
  process.exitCode = 1;
}
