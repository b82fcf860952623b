/** No example sends the key where others could read it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLES, missing, run, temporaryFile } from './support.ts';

const batch = temporaryFile('batch.json', '{"applications":[{"id_number":"1"}]}');

const COMMANDS: readonly (readonly [command: string, args: string[], needs: string])[] = [
  ['sh', [`${EXAMPLES}/submit.sh`, batch], 'curl'],
  ['python3', [`${EXAMPLES}/submit.py`, batch], 'python3'],
  ['node', [`${EXAMPLES}/submit.ts`, batch], 'node'],
];
/** `.invalid` is no host, so an example that sends to it fails with another text. */
const URLS = [
  'http://host.invalid/PRO',
  'http://localhost@host.invalid/PRO',
  'http://localhost:80@host.invalid/PRO',
  'http://localhost.host.invalid/PRO',
  'http://127.0.0.1.host.invalid/PRO',
];

for (const [command, args, needs] of COMMANDS) {
  test(`${command}: http:// to another machine is refused`, { skip: missing(needs) }, async () => {
    // The URLs of the client are tested with it (test/client/insecure-url.test.ts).
    for (const url of command === 'node' ? URLS.slice(0, 1) : URLS) {
      const { code, out, err } = await run(command, args, { url, apiKey: 'vtn_key' });
      assert.deepEqual([code === 0, out], [false, ''], url);
      assert.match(err, /must (begin with https:|have neither a user)/, url);
    }
  });
}
