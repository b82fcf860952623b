/** The stored endpoints of partners (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeSigningSecret } from '../../../src/subjects/events/push/http/sign.ts';
import { readEndpoint, writeEndpoint } from '../../../src/subjects/events/push/sql/endpoints.ts';
import { testDatabase } from '../../support/database.ts';
import { addPartner } from '../../support/service.ts';

const store = await testDatabase();
const { database, vault } = store;

it('D41: of operators who set a new endpoint at the same moment one gets the secret, and it is the stored one', async () => {
  for (let turn = 0; turn < 10; turn += 1) {
    const { partnerId } = await addPartner(store);
    const secrets = await Promise.all(
      ['a', 'b', 'c', 'd'].map((path) =>
        writeEndpoint(database, vault, partnerId, {
          url: new URL(`https://partner.example/${path}`),
          newSecret: makeSigningSecret(),
        }),
      ),
    );
    const shown = secrets.filter((secret) => secret !== null);
    const settings = (await readEndpoint(database, vault, partnerId))?.settings;
    assert.ok(typeof settings === 'object');
    assert.deepEqual(shown, [settings?.secret]);
  }
});
