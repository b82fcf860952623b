/** The page of the simulator where a whole service delivers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { showApplication } from '../../src/subjects/messages/uses/explained-application.ts';
import { DELIVERING } from '../support/delivering.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';

describe('serve', () => {
  /** An application whose contact window never closes. */
  const mexican = { phone: '+525512345678', currency: 'MXN', income: 20_000, debt_amount: 60_000 };

  it('delivers the messages to its own page on OPS_PORT, and takes a tap from there', async () => {
    const serving = await testService(DELIVERING);
    const partner = await serving.addPartner();
    assert.equal((await fetch(`${serving.opsUrl}/simulator`)).status, 200);
    const { body } = await post(`${serving.url}/PRO`, partner.apiKey, {
      applications: [anApplication(mexican)],
    });
    const { id } = (body as { results: [{ id: number }] }).results[0];
    const tap = { messageId: `${id}`, button: 0 };
    await eventually('the message is on the phone', async () =>
      (await post(`${serving.opsUrl}/simulator/tap`, '', tap)).status === 200 ? true : undefined,
    );
    const { history } = await showApplication({ ...serving, actor: 'test' }, toApplicationId(id));
    assert.deepEqual(
      history.map(({ action }) => action),
      ['register', 'interested'],
    );
  });

  for (const environment of [{ ...DELIVERING, CHANNEL: 'log' }, { DELIVERY: 'off' }]) {
    it(`answers probes and metrics of others with ${JSON.stringify(environment)}, and no page`, async () => {
      const { opsUrl } = await testService({ ...environment, OPS_HOST: '0.0.0.0' });
      const status = async (path: string) => (await fetch(opsUrl + path)).status;
      assert.deepEqual(
        await Promise.all(['/healthz', '/metrics', '/simulator'].map(status)),
        [200, 200, 404],
      );
    });
  }
});
