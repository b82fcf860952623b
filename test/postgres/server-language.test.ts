/** A server in another language (`lc_messages`): no text of the server decides anything (D15, D37). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { Vault } from '../../src/seal/vault.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { skip, startFrenchServer } from '../support/foreign-server.ts';
import { Middleman } from '../support/middleman.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { addPartner, anApplication, post, postUntilServed } from '../support/service.ts';
import { readSources } from '../support/sources.ts';
import { startPatiently } from '../support/start-patiently.ts';

const vault = new Vault(TEST_SECRETS);
const store = await testDatabase();

interface Served {
  readonly url: string;
  readonly databaseUrl: string;
  readonly database: Database;
  readonly log: string[];
}

async function serve(t: TestContext, databaseUrl: string, serviceUrl = databaseUrl): Promise<Served> {
  const database = openWithLimits(serviceUrl, 6);
  await migrate(database, machineClock);
  const log: string[] = [];
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const service = await startPatiently(config, { database, vault, clock: machineClock }, logger);
  t.after(async () => {
    await service.stop();
    await database.end();
  });
  return { url: `${service.url}/PRO`, databaseUrl, database, log };
}

/** A service behind a proxy that translates the errors of the tests' server. */
async function throughTranslator(t: TestContext): Promise<Served & { proxy: Middleman }> {
  const address = new URL(store.url);
  const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
  await proxy.start();
  t.after(() => proxy.stop());
  proxy.translates = true;
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return { ...(await serve(t, store.ownerUrl, address.href)), proxy };
}

/** A trigger that is no part of the program, and fails with an error that nothing expects. */
const BREAK = `
  CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
  CREATE TRIGGER broken BEFORE INSERT ON open_phones FOR EACH ROW EXECUTE FUNCTION broken()`;
const MEND = 'DROP TRIGGER broken ON open_phones; DROP FUNCTION broken()';

/** Each failure of the statement is a 500 and leaves nothing, and the batch passes when the trouble is over. */
async function assertStatementErrors({ url, databaseUrl, database, log }: Served): Promise<void> {
  const { apiKey } = await addPartner({ database, vault });
  const application = anApplication();
  const send = () => post(url, apiKey, { applications: [application] });
  const operator = new pg.Client({ connectionString: databaseUrl });
  await operator.connect();

  await operator.query(BREAK);
  assert.equal((await send()).status, 500, 'an unknown error');
  await operator.query(MEND);
  assert.match(log.join(''), /"function":"broken"/);

  await operator.query('BEGIN');
  const index = toBigint(phoneIndexOf(vault, toPhone(application.phone as string)));
  await operator.query('INSERT INTO open_phones (phone_index, application_id) VALUES ($1, 1)', [index]);
  const late = await send();
  assert.deepEqual([late.status, late.headers.get('retry-after')], [500, '1'], 'a lock that is not released');
  await operator.query('ROLLBACK');
  await operator.end();

  const answer = await postUntilServed(url, apiKey, { applications: [application] });
  assert.deepEqual([answer.status, (answer.body as { processed: number }).processed], [200, 1]);
}

describe('D15, D37: an error of a statement is answered with 500, in whatever language it comes', () => {
  it('D15, D37: a proxy that writes the severity in another language', async (t) => {
    await assertStatementErrors(await throughTranslator(t));
  });

  it('D15, D37: a real server in French', { skip }, async (t) => {
    const { url, stop } = await startFrenchServer();
    // After the service has gone.
    t.after(stop);
    const served = await serve(t, url);
    const { rows } = await served.database.query("SELECT current_setting('lc_messages') AS language");
    assert.match(rows[0].language, /^fr/);
    await assert.rejects(served.database.query('SELECT 1/0'), { severity: 'ERREUR', code: '22012' });
    await assertStatementErrors(served);
  });
});

it('D15: an error that ends the session leaves the outcome in doubt, also with the code of a statement', async (t) => {
  const { url, proxy, database } = await throughTranslator(t);
  const { apiKey } = await addPartner({ database, vault });
  proxy.faults.push('panic');
  const { status, body, text } = await post(url, apiKey, { applications: [anApplication()] });
  assert.deepEqual([status, proxy.faults], [200, []], text);
  assert.equal((body as { processed: number }).processed, 1);
});

it('no module reads a text of the server but to show it', () => {
  // `message` is left out: the driver's own errors have nothing else. So is `routine`, which no server translates.
  const reads = /(\.|['"])(severity|detail)\b/;
  const readers = readSources('src').filter(({ text }) => reads.test(text));
  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  );
});
