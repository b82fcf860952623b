/** The way of the codes: a real HTTP server that speaks as the SMS API does, with faults. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../test/support/random.ts';
import { drawBy } from './draw.ts';
import type { Person } from './person.ts';

/** What the API does with a code. `isShown`: the phone gets it. */
interface Fault {
  readonly share: number;
  readonly isShown: boolean;
  readonly delayMs?: number;
  readonly answer: 'usual' | 'close' | number;
}

const FAULTS: readonly Fault[] = [
  { share: 0.02, isShown: true, answer: 'close' },
  { share: 0.01, isShown: false, answer: 'close' },
  { share: 0.02, isShown: true, delayMs: 2_000, answer: 'usual' },
  { share: 0.02, isShown: false, answer: 503 },
  { share: 0.02, isShown: false, answer: 429 },
];
const USUAL: Fault = { share: 1, isShown: true, answer: 'usual' };

export interface SecondPhones {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** `faults`: how often the API fails, as a factor. */
export async function startSecondPhones(
  persons: ReadonlyMap<string, Person>,
  random: Random,
  faults: number,
): Promise<SecondPhones> {
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
    const fault = drawBy(FAULTS, random.next() / faults) ?? USUAL;
    if (fault.delayMs !== undefined) await sleep(fault.delayMs);
    const code = /\b\d{6}\b/.exec(form.get('Body') ?? '')?.[0];
    if (fault.isShown && code !== undefined) persons.get(form.get('To') ?? '')?.showCode(code);
    if (fault.answer === 'close') return void response.destroy();
    if (fault.answer === 'usual') {
      const sid = `SM${randomBytes(16).toString('hex')}`;
      return void response
        .writeHead(201, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ sid, status: 'queued' }));
    }
    response.writeHead(fault.answer, { 'Content-Type': 'application/json' }).end('{"message":"Try again"}');
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    environment: {
      CODE_WAY: 'sms',
      SMS_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      SMS_ACCOUNT_SID: 'AC1',
      SMS_AUTH_TOKEN: 'token-of-the-stand-in',
      SMS_FROM: '+15005550006',
    },
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
