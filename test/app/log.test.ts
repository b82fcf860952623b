/** The log of a service begins after its welcome. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type pino from 'pino';
import { createLog } from '../../src/app/log.ts';

it('holds all lines but warnings and errors until it begins, and writes them once, in their order', () => {
  const lines: string[] = [];
  const stdout = {
    write: (line: string) => lines.push(JSON.parse(line).msg),
  } as unknown as pino.DestinationStream;
  const { log, begin } = createLog({ logLevel: 'debug' }, stdout as never);
  log.info('one');
  log.debug('two');
  log.warn('trouble');
  log.error('more');
  log.fatal('the end');
  assert.deepEqual(lines.splice(0), ['trouble', 'more', 'the end']);
  begin();
  begin();
  log.info('three');
  assert.deepEqual(lines, ['one', 'two', 'three']);
});
