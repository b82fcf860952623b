/**
 * Sends a file to the virus scanner over the network, by clamd's protocol, command INSTREAM (clamd(8);
 * docs/documents.md, "The way of a file").
 */
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../ground/base/clock.ts';
import type { ClamdAddress } from '../rules/clamd-address.ts';

/**
 * `unavailable`: the scanner may answer later, so the file waits. `too_large`: the file is over clamd's
 * StreamMaxLength.
 */
export type ScanResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'infected'; readonly name: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Scans bytes; never throws. */
export type Scanner = (bytes: Buffer) => Promise<ScanResult>;

const TIMEOUT_MS = 60_000;
const CHUNK = 64 * 1024;
const MOST_ANSWER = 4096;

/** The scanner at an address. Each scan has its own connection and ends within a minute. */
export function clamdScanner(address: ClamdAddress, clock: Clock): Scanner {
  return async (bytes) => {
    const trial = (restMs: number) => ask(address, clock, bytes, restMs).then(resultOf, faultOf);
    const result = await trial(0);
    // A write to a connection that clamd has closed loses the answer that came before its end. So the file is sent
    // again, with rests.
    return result.kind === 'unavailable' && CUT.test(result.reason) ? trial(REST_MS) : result;
  };
}

const CUT = /EPIPE|ECONNRESET/;
/** The rest after each part in the second trial, so that an answer is read before the next part is sent. */
const REST_MS = 5;

function faultOf(error: unknown): ScanResult {
  return { kind: 'unavailable', reason: error instanceof Error ? error.message : 'unknown' };
}

/** `restMs`: how long each part of the file waits for an answer about the parts before it. */
function ask(address: ClamdAddress, clock: Clock, bytes: Buffer, restMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    let answer = '';
    const end = (done: () => void) => {
      timer.cancel();
      socket.destroy();
      done();
    };
    const fail = (why: string) => end(() => reject(new Error(why)));
    const timer = clock.after(TIMEOUT_MS, () => fail('no answer in time'));
    socket.setEncoding('latin1');
    socket.on('error', (error) => (answer === '' ? fail(error.message) : end(() => resolve(answer))));
    socket.on('data', (part: string) => {
      answer += part;
      if (answer.includes('\0') || answer.length > MOST_ANSWER) end(() => resolve(answer));
    });
    socket.on('close', () =>
      answer === '' ? fail('the connection ended without an answer') : end(() => resolve(answer)),
    );
    socket.on('connect', () => void send(socket, clock, bytes, restMs));
  });
}

/** clamd may answer before it has the whole file, and closes the connection. */
async function send(socket: Socket, clock: Clock, bytes: Buffer, restMs: number): Promise<void> {
  await write(socket, Buffer.from('zINSTREAM\0'));
  for (let at = 0; at < bytes.length && socket.writable; at += CHUNK) {
    const part = bytes.subarray(at, at + CHUNK);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    await write(socket, Buffer.concat([length, part]));
    if (restMs > 0) await clock.sleep(restMs);
  }
  await write(socket, Buffer.alloc(4));
}

/** Errors are ignored here, because the events of the connection tell its end. */
async function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (!socket.writable) return;
  await new Promise((done) => socket.write(bytes, done));
}

function resultOf(answer: string): ScanResult {
  const text = answer.replace(/\0[\s\S]*$/, '').trim();
  if (text === 'stream: OK') return { kind: 'clean' };
  const [, name] = /^stream: (.+) FOUND$/.exec(text) ?? [];
  if (name !== undefined) return { kind: 'infected', name };
  if (/size limit exceeded/i.test(text)) return { kind: 'too_large' };
  return { kind: 'unavailable', reason: `clamd answered ${text.slice(0, 100)}` };
}
