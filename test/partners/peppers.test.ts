/** The pepper of the API keys is replaced while services run: no key changes, and none is refused on the way. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { readiness } from '../../src/app/readiness.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { remac } from '../support/remac.ts';
import { addPartner } from '../support/service.ts';
import { startWithoutUpkeep } from '../support/start-patiently.ts';

const store = await testDatabase();
const { database } = store;
const witnesses = await loadWitnesses();
const fresh = createHash('sha256').update('fresh').digest();
const old = TEST_SECRETS.apiKeyPepper;
const secretsOf = (apiKeyPepper: Buffer, ...olderPeppers: Buffer[]) => ({
  ...TEST_SECRETS,
  apiKeyPepper,
  olderPeppers,
});
const ROUNDS = {
  before: secretsOf(old),
  first: secretsOf(old, fresh),
  second: secretsOf(fresh, old),
  after: secretsOf(fresh),
};

/** Starts a service with these secrets. Resolves to the status of a request with an API key, and to its readiness. */
async function serve(secrets: typeof ROUNDS.before) {
  await checkSecrets(database, secrets, witnesses, machineClock);
  const own = { ...store, vault: new Vault(secrets) };
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const service = await startWithoutUpkeep(config, own, pino({ level: 'silent' }));
  after(() => service.stop());
  await confirmSecrets(database, secrets, witnesses, machineClock);
  return {
    ...own,
    statusOf: async (apiKey: string) =>
      (await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } })).status,
    isReady: readiness(own, pino({ level: 'silent' })),
  };
}

describe('a new pepper', () => {
  it('comes in two rounds: every key goes on, and is hashed again when it is used', async () => {
    const before = await serve(ROUNDS.before);
    const [used, unused, revoked] = [
      await addPartner(before),
      await addPartner(before),
      await addPartner(before),
    ];
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.keyId]);
    await remac(store);
    const first = await serve(ROUNDS.first);
    const second = await serve(ROUNDS.second);
    for (const { statusOf } of [before, first, second]) assert.equal(await statusOf(used.apiKey), 200);
    const issued = await addPartner(second);
    // Where it fails, the next use of the key tries again.
    const hashedAgain = ({ keyId, apiKey }: typeof used) =>
      eventually('the key to be hashed again', async () => {
        assert.equal(await second.statusOf(apiKey), 200);
        const { rows } = await database.query('SELECT digest FROM api_keys WHERE id = $1', [keyId]);
        return rows[0].digest.equals(second.vault.apiKeyDigest(apiKey));
      });
    await hashedAgain(used);
    // Each process that knows both peppers goes on to know the keys, and hashes them with its own first one.
    for (const { statusOf } of [first, second])
      for (const { apiKey } of [used, issued]) assert.equal(await statusOf(apiKey), 200);
    for (const one of [used, issued]) await hashedAgain(one);
    assert.equal(await second.statusOf(revoked.apiKey), 401);

    // A process that was left out says that it does not fit, so that no request goes there.
    assert.equal(await before.isReady(), 'unknown_pepper');
    assert.equal(await before.statusOf(issued.apiKey), 401);
    for (const { isReady } of [first, second]) assert.equal(await isReady(), true);

    // The old pepper goes when no live key needs it.
    const named = new RegExp(
      `^API_KEY_PEPPER is not the one of 1 live API key \\(${unused.keyId}\\): add its pepper at`,
    );
    for (const check of [checkSecrets, checkSecretsOfCommand])
      await assert.rejects(check(database, ROUNDS.after, witnesses, machineClock), { message: named });
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [unused.keyId]);
    await remac(store);
    const last = await serve(ROUNDS.after);
    for (const { apiKey } of [used, issued]) assert.equal(await last.statusOf(apiKey), 200);
    await assert.rejects(
      checkSecrets(database, ROUNDS.before, witnesses, machineClock),
      /is not the one of 2 live API keys/,
    );
  });

  it('the list is read from the newest on, and holds each pepper once', () => {
    const text = (pepper: Buffer) => pepper.toString('base64');
    const variables = { DATA_KEYS: `1:${text(old)}`, INDEX_KEY: text(old) };
    const { secrets } = readConfig({ ...variables, API_KEY_PEPPER: `${text(fresh)}, ${text(old)}` });
    assert.deepEqual([secrets?.apiKeyPepper, secrets?.olderPeppers], [fresh, [old]]);
    assert.throws(() => readConfig({ ...variables, API_KEY_PEPPER: `${text(old)},${text(old)}` }), {
      message: 'API_KEY_PEPPER must hold different keys, the newest first',
    });
  });
});
