/** The log of a service begins after its welcome. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type pino from 'pino';
import { createLog } from '../../src/app/log.ts';

it('holds all lines but notices of the start until it begins, and writes them once, in their order', () => {
  const lines: string[] = [];
  const stdout = {
    write: (line: string) => lines.push(JSON.parse(line).msg),
  } as unknown as pino.DestinationStream;
  const { log, notice, begin } = createLog({ logLevel: 'debug' }, stdout as never);
  log.info('one');
  log.debug('two');
  log.error('a loop of a busy machine');
  notice('the start waits');
  log.warn('trouble');
  assert.deepEqual(lines.splice(0), ['the start waits']);
  begin();
  begin();
  log.info('three');
  assert.deepEqual(lines, ['one', 'two', 'a loop of a busy machine', 'trouble', 'three']);
});
