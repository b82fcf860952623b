/** Answers without end: each example ends, and says why (D36). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PATIENCE_MS } from '../support/eventually.ts';
import { startHostileServer, TOO_LONG, TOO_SLOW } from '../support/hostile-answers.ts';
import { EXAMPLES, missing, start, temporaryFile } from './support.ts';

/**
 * What may leave the server before the first attempt ends: one and a half times the bound of 4 MiB, and what sockets
 * hold.
 */
const MOST_SENT = 30 * 1024 * 1024;

const cursor = temporaryFile('cursor.txt', '');
const BATCH = join(EXAMPLES, 'batch.json');

/** What an example says of an answer that is too long, and of one that is too slow (null: its time limit is curl's). */
const CASES = [
  ['submit.py', 'python3', [BATCH], /too long.*next attempt/, /15 s, next attempt/],
  ['events.py', 'python3', [cursor], /too long.*next attempt/, /15 s, next attempt/],
  ['demo.ts', 'node', [], /too long\. Is it/, /did not answer within 15 s|UND_ERR_SOCKET/],
  ['submit.sh', 'curl', [BATCH], /curl: \(23\)/, null],
] as const;

describe('answers without end', { concurrency: true }, () => {
  for (const [name, command, args, tooLong, tooSlow] of CASES) {
    const options = { skip: missing(command), timeout: PATIENCE_MS };
    const path = join(EXAMPLES, name);
    const run = (url: string) => {
      const variables = { VENTANILLA_URL: `${url}/PRO`, VENTANILLA_API_KEY: 'k' };
      return command === 'curl' ? start(path, args, variables) : start(command, [path, ...args], variables);
    };

    it(`examples/${name} does not read an answer that is too long`, options, async () => {
      const server = await startHostileServer(TOO_LONG['small chunks']);
      const example = run(server.url);
      await example.wrote(tooLong);
      assert.ok(server.sent < MOST_SENT * server.requests, `${server.sent} bytes`);
      await example.stop('SIGKILL');
    });

    if (tooSlow === null) continue;
    for (const [what, answer] of Object.entries(TOO_SLOW)) {
      it(`examples/${name}: ${what} is no answer after 15 seconds`, options, async () => {
        const server = await startHostileServer(answer);
        const drip = setInterval(() => server.more(), 20);
        const example = run(server.url);
        await example.wrote(tooSlow);
        await example.stop('SIGKILL');
        clearInterval(drip);
      });
    }
  }
});
