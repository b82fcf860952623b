/** What others may not reach is refused at the start: the simulator's page, and a console without operators (D48). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { refuseOpenSimulator } from '../../src/app/channel.ts';
import { ConfigError, readConfig } from '../../src/app/config/config.ts';
import type { RunningService } from '../../src/app/serve.ts';
import { forgetPlace, notedPlace, notePlace } from '../../src/subjects/operators/uses/console-place.ts';
import { addOperator, disableOperator } from '../../src/subjects/operators/uses/manage.ts';
import { testDatabase } from '../support/database.ts';
import { remac } from '../support/remac.ts';
import { startPatiently } from '../support/start-patiently.ts';

const EVERY_ADDRESS = ['0.0.0.0', '::', 'desk.example'];
const store = await testDatabase();
const { database } = store;
const running: RunningService[] = [];
after(() => Promise.all(running.map((service) => service.stop())));

async function start(variables: Record<string, string>): Promise<RunningService> {
  const config = { ...readConfig({ DELIVERY: 'off', ...variables }), port: 0, opsPort: 0 };
  const service = await startPatiently(config, store, pino({ level: 'silent' }));
  running.push(service);
  return service;
}

function refusal(variable: string) {
  return (error: unknown) => error instanceof ConfigError && error.message.startsWith(`${variable} must be`);
}

describe('OPS_HOST', () => {
  const given = (variables: Record<string, string>) => refuseOpenSimulator(readConfig(variables));

  for (const OPS_HOST of EVERY_ADDRESS) {
    it(`${OPS_HOST} is refused where the simulator has its page`, () => {
      assert.throws(() => given({ OPS_HOST, CHANNEL: 'simulator' }), refusal('OPS_HOST'));
    });
  }

  for (const OPS_HOST of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
    it(`${OPS_HOST} is this machine alone`, () => given({ OPS_HOST, CHANNEL: 'simulator' }));
  }

  // `simulator/served.test.ts` has what such a service answers.
  for (const variables of [
    { CHANNEL: 'log', DELIVERY: 'on' },
    { CHANNEL: 'simulator', DELIVERY: 'off' },
  ]) {
    it(`every address is allowed with ${JSON.stringify(variables)}, where no page is`, () => {
      given({ OPS_HOST: '0.0.0.0', ...variables });
    });
  }
});

describe('CONSOLE_HOST', () => {
  const open = () => start({ CONSOLE_HOST: '0.0.0.0', CONSOLE_PORT: '0' });

  it('that others reach is refused until an operator can sign in: one added, or disabled, is not enough', async () => {
    for (const CONSOLE_HOST of EVERY_ADDRESS) {
      await assert.rejects(start({ CONSOLE_HOST, CONSOLE_PORT: '0' }), refusal('CONSOLE_HOST'));
    }
    const { operator } = await addOperator(store, { login: 'ana', role: 'viewer', authority: new Map() });
    await assert.rejects(open(), refusal('CONSOLE_HOST'));
    await database.query('UPDATE operators SET enrolled_at = now() WHERE id = $1', [operator.id]);
    await remac(store);
    assert.notEqual((await open()).consoleUrl, null);
    await disableOperator(store, 'ana');
    await assert.rejects(open(), refusal('CONSOLE_HOST'));
  });
});

describe('the place of the console', () => {
  it('is noted for the commands while a service of an embedded store is open, also where its port is given', async (t) => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'ventanilla-reach-'));
    t.after(() => rm(DATA_DIR, { recursive: true }));
    for (const CONSOLE_PORT of ['0', '']) {
      const service = await start({ DATA_DIR, CONSOLE_PORT });
      assert.equal(await notedPlace(DATA_DIR, 'operator'), service.consoleUrl);
      await service.stop();
      assert.equal(await notedPlace(DATA_DIR, 'operator'), null);
    }
  });

  it('stays noted where another service of the store, which began before, is stopped', async (t) => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'ventanilla-reach-'));
    t.after(() => rm(DATA_DIR, { recursive: true }));
    const [before, now] = ['http://localhost:8082', 'http://localhost:41171'];
    for (const origin of [before, now]) await notePlace(DATA_DIR, 'operator', origin);
    await forgetPlace(DATA_DIR, 'operator', before);
    assert.equal(await notedPlace(DATA_DIR, 'operator'), now);
    await forgetPlace(DATA_DIR, 'operator', now);
    assert.equal(await notedPlace(DATA_DIR, 'operator'), null);
  });
});
