/** Runs the examples as a partner would, and makes faults between them and the service. */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';

export const EXAMPLES = resolve(import.meta.dirname, '../../examples');
const RUN_TIMEOUT_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-examples-'));
after(() => rmSync(folder, { recursive: true, force: true }));

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** For `skip`: the reason where a command is missing on this machine. */
export function missing(...commands: string[]): string | false {
  const absent = commands.filter((command) => spawnSync(command, ['--version']).status !== 0);
  return absent.length > 0 && `not installed here: ${absent.join(', ')} (apt-get install it)`;
}

/** Runs an example to its end. Of the variables that it reads, only these are set. */
export async function run(
  command: string,
  args: readonly string[],
  variables: { url?: string; apiKey?: string },
): Promise<Run> {
  const { VENTANILLA_URL, VENTANILLA_API_KEY, NODE_TEST_CONTEXT, ...rest } = process.env;
  const env = {
    ...rest,
    // A proxy that does not exist: requests to this machine must not use it.
    http_proxy: 'http://127.0.0.1:1',
    ...(variables.url === undefined ? {} : { VENTANILLA_URL: variables.url }),
    ...(variables.apiKey === undefined ? {} : { VENTANILLA_API_KEY: variables.apiKey }),
  };
  const { promise, resolve: done } = Promise.withResolvers<Run>();
  const child = execFile(command, args, { env, timeout: RUN_TIMEOUT_MS }, (_error, out, err) =>
    done({ code: child.exitCode, out, err }),
  );
  const ended = await promise;
  for (const text of [ended.out, ended.err]) {
    assert.ok(variables.apiKey === undefined || !text.includes(variables.apiKey), 'the key was printed');
  }
  return ended;
}

/** An example that runs until the test stops it. */
export interface Running {
  /** All that the example has written to standard output, and to standard error. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves to the match as soon as the example has written a text that matches; rejects where it ends before. */
  wrote(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and resolves to the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts an example with these environment variables. */
export function start(command: string, args: readonly string[], variables: Record<string, string>): Running {
  const { NODE_TEST_CONTEXT, ...rest } = process.env;
  const env = { ...rest, http_proxy: 'http://127.0.0.1:1', ...variables };
  // A group of its own: a signal for a shell has to reach the programs that the shell waits for.
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const signalAll = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {}
  };
  after(() => signalAll('SIGKILL'));
  const text = { out: '', err: '' };
  const ended = once(child, 'close');
  let changed = Promise.withResolvers<void>();
  const note = (name: 'out' | 'err') => (piece: string) => {
    text[name] += piece;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  child.stdout.setEncoding('utf8').on('data', note('out'));
  child.stderr.setEncoding('utf8').on('data', note('err'));
  return {
    out: () => text.out,
    err: () => text.err,
    async wrote(pattern) {
      for (;;) {
        const match = pattern.exec(text.out) ?? pattern.exec(text.err);
        if (match !== null) return match;
        const hasEnded = await Promise.race([changed.promise, ended.then(() => true)]);
        if (hasEnded) throw new Error(`${args} ended without ${pattern}: ${text.out}${text.err}`);
      }
    },
    async stop(signal) {
      signalAll(signal);
      await ended;
      return child.exitCode;
    },
  };
}

/** A file with these contents, which is removed after the test file. */
export function temporaryFile(name: string, contents: string): string {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
}

/** What the proxy does with one request: pass it on, lose its answer, or answer by itself. */
export type Trouble = 'none' | 'lost answer' | { status: number; headers?: Record<string, string> };

/** A proxy in front of a service. Each request gets the next of `troubles`; later requests pass. */
export async function troubledProxy(serviceUrl: string, troubles: readonly Trouble[]) {
  const requests: { idempotencyKey: unknown; atMs: number }[] = [];
  const server = createServer((incoming, answer) => {
    const trouble = troubles[requests.length] ?? 'none';
    requests.push({ idempotencyKey: incoming.headers['idempotency-key'], atMs: performance.now() });
    if (typeof trouble === 'object') {
      incoming
        .resume()
        .on('end', () => answer.writeHead(trouble.status, trouble.headers).end('{"error":"x"}'));
      return;
    }
    const { method, headers } = incoming;
    const outgoing = request(serviceUrl + incoming.url, { method, headers, agent: false }, (real) => {
      const chunks: Buffer[] = [];
      real.on('data', (chunk: Buffer) => chunks.push(chunk));
      // The service has done its part by now.
      real.on('end', () => {
        if (trouble === 'lost answer') incoming.socket.destroy();
        else answer.writeHead(real.statusCode ?? 0, real.headers).end(Buffer.concat(chunks));
      });
    });
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
