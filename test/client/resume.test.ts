/** A call that ended early and is made again registers nobody twice, with or without a phone (D36). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Application, NetworkError, VentanillaClient } from '../../client/src/index.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { startPeer } from './peer.ts';
import { anInput, brief, inputs, rejection, stored } from './support.ts';

const service = await testService();
const bounded = { timeout: PATIENCE_MS };

/** Seven batches: some complete, some closed early, some shorter than earlier ones. */
function list(changes: Record<string, unknown>): Application[] {
  const same = anInput(changes);
  return [
    ...inputs(230, changes),
    same,
    { ...same, phone: null },
    ...inputs(120, changes),
    anInput({ city: '' }),
  ];
}

const sendings: [what: string, changes: Record<string, unknown>][] = [
  ['with phones', {}],
  ['without phones', { phone: null }],
];
for (const [what, changes] of sendings) {
  describe(`a list ${what}`, () => {
    it('can end early at any request; a second call registers every applicant once', bounded, async () => {
      for (const lost of [1, 2, 3, 4]) {
        const { apiKey, partnerId } = await service.addPartner();
        const applications = list(changes);
        // From one request on no answer comes, but the first of these requests is registered.
        const peer = await startPeer(service.url, ({ number }) =>
          number < lost ? 'forward' : number === lost ? 'lose' : 'close',
        );
        const options = { submissionId: `list ${lost}` };
        const first = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey, retries: 0, concurrency: 2 });
        const error = await rejection(NetworkError, first.submit(applications, options));
        const again = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
        const outcomes = await again.submit(structuredClone(applications), options);

        const expected = applications.map(
          ({ city, id_number }) => `${city ? 'registered' : 'invalid'} ${id_number}`,
        );
        assert.deepEqual(brief(outcomes), expected);
        assert.equal(await stored(service.database, partnerId), applications.length - 1);
        // The second call has the outcomes that the error knew.
        for (const { index, input, known } of error.known) {
          assert.equal(input, applications[index]);
          if (known.kind !== 'unknown') assert.deepEqual(known, outcomes[index]);
        }
        const kinds = error.known.map(({ known }) => known.kind);
        assert.ok(kinds.includes('unknown') && !kinds.includes('not_registered'), `lost at ${lost}`);
        assert.deepEqual(
          error.known.map(({ index }) => index),
          kinds.map((_, index) => index),
        );
      }
    });
  });
}

it('without a submissionId a second call is another submission', bounded, async () => {
  const { apiKey, partnerId } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
  const input = anInput({ phone: null });
  await client.submit([input]);
  await client.submit([input]);
  assert.equal(await stored(service.database, partnerId), 2);
});

it(
  'the same application twice in one list is registered twice, and not again when the list is sent again',
  bounded,
  async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
    const input = anInput({ phone: null });
    const first = await client.submit([input, input], { submissionId: 'twice' });
    assert.deepEqual(await client.submit([input, input], { submissionId: 'twice' }), first);
    assert.equal(await stored(service.database, partnerId), 2);
  },
);
