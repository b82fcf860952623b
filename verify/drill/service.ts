/** The service of a drill, and its partner. */
import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import type { Secrets } from '../../src/seal/vault.ts';
import { Vault } from '../../src/seal/vault.ts';
import { issueKey } from '../../src/subjects/partners/uses/keys.ts';
import { addPartner } from '../../src/subjects/partners/uses/partners.ts';
import { lastingPort } from '../../test/support/free-port.ts';
import { Program } from '../../test/support/program.ts';

/** The service as operators start it, and a partner's key. */
export async function startService(databaseUrl: string, logFile: string) {
  const [port, opsPort] = [await lastingPort(), await lastingPort()];
  const secret = () => randomBytes(32).toString('base64');
  const variables = {
    DATABASE_URL: databaseUrl,
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    CHANNEL: 'log',
    DELIVERY: 'on',
    MESSAGES_PER_SECOND: 'none',
    HOST: '127.0.0.1',
    OPS_HOST: '127.0.0.1',
    PORT: String(port),
    OPS_PORT: String(opsPort),
    BASE_PATH: '',
    CHANNEL_NAME: '',
    POLICY_FILE: '',
    CONTACT_WINDOWS_FILE: '',
    LOG_LEVEL: 'info',
  };
  const program = new Program('serve', variables, logFile);
  process.on('exit', () => {
    if (program.pid !== null) process.kill(program.pid, 'SIGKILL');
  });
  await program.start();
  const database = openDatabase(
    { connectionString: variables.DATABASE_URL },
    { max: 2, onError() {}, clock: machineClock },
  );
  const vault = new Vault(readConfig(variables).secrets as Secrets);
  const operator = { database, vault, clock: machineClock, actor: 'drill' };
  const { id } = await addPartner(operator, { name: 'Drill', country: 'MX' });
  const key = await issueKey(operator, id, { environment: null, language: 'en', dailyCap: null, brand: {} });
  await database.end();
  return { service: program, url: `http://127.0.0.1:${port}`, apiKey: key.apiKey };
}
