/** What the chaos run reads of the store: also of partners whose batches nobody noted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApplication, post, testService } from '../../test/support/service.ts';
import { checkHistory } from '../history/check.ts';
import type { Batch } from '../history/history.ts';
import { dumpStore } from './dump.ts';

const { database, vault, url, addPartner } = await testService();

async function register(apiKey: string, applications: readonly object[]): Promise<void> {
  const { body } = await post(`${url}/PRO`, apiKey, { applications });
  assert.equal((body as { results: unknown[] }).results.length, applications.length);
}

test('two open applications of a phone that no client noted are seen (contract, "Duplicate rule")', async () => {
  const { partnerId, apiKey } = await addPartner();
  const { partnerId: floodId, apiKey: floodKey } = await addPartner();
  const [noted, one, other] = [anApplication(), anApplication(), anApplication()];
  await register(apiKey, [noted]);
  await register(floodKey, [one, other]);
  const again = { ...anApplication(), phone: one.phone };
  const batch: Batch = {
    ...{ partnerId, hasKey: false, isAllNew: true, calls: [] },
    applications: [
      { idNumber: String(noted.id_number), phone: String(noted.phone), optin: true, decision: 'approved' },
    ],
  };
  const phonesBroken = async () => {
    const store = await dumpStore(database, vault, [batch]);
    const phones = store.applications.map(({ phone }) => phone);
    assert.equal(phones.filter((phone) => phone === noted.phone).length, 1);
    assert.ok(!phones.includes(null));
    const partners = [partnerId, floodId].map((id) => ({
      ...{ id, cap: null, hasEndpoint: false, isNoted: id === partnerId },
    }));
    const seen = {
      batches: [batch],
      reviews: [],
      operators: [],
      deskActs: [],
      optOuts: [],
      quota: [],
      sends: [],
      feeds: [],
      pushes: [],
      clockSteps: [],
    };
    return checkHistory({ partners, ...seen, store }).filter(({ rule }) => rule === 'phones');
  };
  assert.deepEqual(await phonesBroken(), []);

  await database.query('DELETE FROM open_phones');
  await register(floodKey, [again]);
  const [violation, ...more] = await phonesBroken();
  assert.equal(violation?.partnerId, floodId);
  assert.deepEqual(more, []);
});
