/** The demo's requests to the service. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 15_000;
/** How often a request is sent that is answered with 500, and how long after that answer. */
const MOST_TRIES = 5;
const AGAIN_AFTER_MS = 1_000;
/** An answer is far smaller. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The folder of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** Ends the demo, with a text for the person who started it. */
export class DemoError extends Error {}

/** The API key. */
export async function readKey(): Promise<string> {
  const fromEnvironment = process.env.VENTANILLA_API_KEY?.trim();
  if (fromEnvironment) return fromEnvironment;
  const path = join(resolve(ROOT, process.env.DATA_DIR || 'data'), 'demo-key');
  const key = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DemoError(
      error.code === 'ENOENT'
        ? `There is no key: set VENTANILLA_API_KEY. The first npm start without DATABASE_URL writes one to ${path}.`
        : `The key in ${path} cannot be read (${error.code}). Set VENTANILLA_API_KEY instead.`,
    );
  });
  if (key.trim() === '')
    throw new DemoError(`The key file ${path} is empty. Set VENTANILLA_API_KEY instead.`);
  return key.trim();
}

/** Takes over the variables of the service: those in `.env` of the current folder, where the process has none. */
export function readVariables(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/** The URL of the service. */
export function endpoint(): URL {
  const { VENTANILLA_URL, PORT, BASE_PATH } = process.env;
  const text = VENTANILLA_URL || `http://127.0.0.1:${PORT || 8080}${BASE_PATH ?? ''}/PRO`;
  if (!URL.canParse(text)) throw new DemoError(`VENTANILLA_URL is not a URL: ${text}`);
  return new URL(text);
}

/** The URL of the simulator's page. */
export function simulatorPage(): string {
  const { VENTANILLA_SIMULATOR_URL, OPS_PORT } = process.env;
  return VENTANILLA_SIMULATOR_URL || `http://127.0.0.1:${OPS_PORT || 8081}/simulator`;
}

/**
 * Repeats a request that a busy service answered with 500, within the time of its signal. Of a batch nothing is stored
 * then (contract, "HTTP codes"), and what the phone says a second time does no harm.
 */
export async function askPatiently(url: URL | string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, init);
    if (response.status !== 500 || tries === MOST_TRIES) return response;
    await response.body?.cancel();
    await sleep(AGAIN_AFTER_MS);
  }
}

/**
 * Asks the service, with a body by POST, for 15 seconds or `limitMs` where that is more. Throws `DemoError` for every
 * answer but 200.
 */
export async function call<T>(url: URL, key: string, body?: string, limitMs = 0): Promise<T> {
  const timeoutMs = Math.max(TIMEOUT_MS, limitMs);
  const headers: Record<string, string> = { 'X-API-Key': key, 'Accept-Language': 'en' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let status: number;
  let text: string;
  try {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body };
    const response = await askPatiently(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    status = response.status;
    text = await textOf(response);
  } catch (error) {
    if (error instanceof DemoError) throw error;
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw new DemoError(`${url} did not answer within ${timeoutMs / 1000} s.`);
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
