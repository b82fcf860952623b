/**
 * Sends examples/batch.json to a running service and shows the outcome of each application (`npm run demo`).
 *
 * `VENTANILLA_URL` is the URL to send to (default http://127.0.0.1:8080/PRO). `VENTANILLA_API_KEY` is the key; without
 * it the demo reads `demo-key` under `DATA_DIR` (default ./data), which the service writes on its first start. With
 * `NO_COLOR` there are no colours. The exit code is 0 where the batch was answered with 200, else 1.
 */

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { styleText } from 'node:util';
import Table from 'cli-table3';

const DEFAULT_URL = 'http://127.0.0.1:8080/PRO';
const TIMEOUT_MS = 15_000;
/** An answer is far smaller. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const ROOT = resolve(import.meta.dirname, '..');

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

/** Ends the demo, with a text for the person who started it. */
class DemoError extends Error {}

const COLOURS = { approved: 'green', in_review: 'yellow', rejected: 'red', error: 'magenta' } as const;
type Outcome = keyof typeof COLOURS;

async function readKey(): Promise<string> {
  const fromEnvironment = process.env.VENTANILLA_API_KEY?.trim();
  if (fromEnvironment) return fromEnvironment;
  const path = join(resolve(ROOT, process.env.DATA_DIR || 'data'), 'demo-key');
  const key = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DemoError(
      error.code === 'ENOENT'
        ? `There is no key. Set VENTANILLA_API_KEY, or start the service once (npm start): it writes a demo key to ${path}.`
        : `The key in ${path} cannot be read (${error.code}). Set VENTANILLA_API_KEY instead.`,
    );
  });
  if (key.trim() === '')
    throw new DemoError(`The key file ${path} is empty. Set VENTANILLA_API_KEY instead.`);
  return key.trim();
}

function endpoint(): URL {
  const text = process.env.VENTANILLA_URL || DEFAULT_URL;
  if (!URL.canParse(text)) throw new DemoError(`VENTANILLA_URL is not a URL: ${text}`);
  return new URL(text);
}

async function call<T>(url: URL, key: string, body?: string): Promise<T> {
  const headers: Record<string, string> = { 'X-API-Key': key, 'Accept-Language': 'en' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let status: number;
  let text: string;
  try {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body };
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    status = response.status;
    text = await textOf(response);
  } catch (error) {
    if (error instanceof DemoError) throw error;
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw new DemoError(`${url} did not answer within ${TIMEOUT_MS / 1000} s.`);
    }
    const cause =
      error instanceof Error ? ((error.cause as { code?: string })?.code ?? error.message) : error;
    throw new DemoError(
      `Nothing answers at ${url} (${cause}). Is the service running? Start it with: npm start`,
    );
  }
  const json = parse(text);
  if (status !== 200)
    throw new DemoError(`${url} answered ${status}: ${reasonIn(json) ?? 'no reason given'}${hint(status)}`);
  if (json === undefined) throw new DemoError(`${url} answered 200, but not with JSON. Is it Ventanilla?`);
  return json as T;
}

async function textOf({ body, url }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > MAX_ANSWER_BYTES) throw new DemoError(`The answer of ${url} is too long. Is it Ventanilla?`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonIn(json: unknown): string | undefined {
  return (json as { error?: string } | null | undefined)?.error;
}

function hint(status: number): string {
  if (status === 401)
    return '\nThe key is unknown, revoked or not for this environment. See VENTANILLA_API_KEY.';
  if (status === 404) return '\nVENTANILLA_URL should end in /PRO or /DEV.';
  return '';
}

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

async function main(): Promise<void> {
  const url = endpoint();
  const key = await readKey();
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

try {
  await main();
} catch (error) {
  console.error(error instanceof DemoError ? error.message : error);
  process.exitCode = 1;
}
