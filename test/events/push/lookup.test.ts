/** The addresses of endpoints, and the waits of their pushes (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bothFamilies } from '../../../src/subjects/events/push/http/sender.ts';
import { waitAfter } from '../../../src/subjects/events/push/rules/failures.ts';

const answers = (addresses: string[] | string) => async () => {
  if (typeof addresses === 'string') throw Object.assign(new Error(addresses), { code: addresses });
  return addresses as never;
};

describe('bothFamilies', () => {
  it('D41: gives the addresses of both families; one that has none, or does not answer, is left out', async () => {
    const of = (four: string[] | string, six: string[] | string) =>
      bothFamilies({ resolve4: answers(four), resolve6: answers(six) } as never)('partner.example');
    assert.deepEqual(await of(['8.8.8.8'], ['2606:4700::1111']), ['8.8.8.8', '2606:4700::1111']);
    assert.deepEqual(await of(['8.8.8.8'], 'ENODATA'), ['8.8.8.8']);
    assert.deepEqual(await of('ETIMEOUT', ['2606:4700::1111']), ['2606:4700::1111']);
    await assert.rejects(of('ENOTFOUND', 'ENODATA'), { code: 'ENOTFOUND' });
  });
});

describe('waitAfter', () => {
  it('D41: waits 5 s, 30 s, 2 min, 5 min and then 15 min, each 20 % more or less', () => {
    const waits = [5, 30, 120, 300, 900, 900, 900].map((seconds) => seconds * 1_000);
    for (const [index, wait] of waits.entries()) {
      assert.deepEqual(
        [0, 0.5, 1].map((random) => waitAfter(index + 1, random)),
        [0.8 * wait, wait, 1.2 * wait],
      );
    }
    assert.equal(waitAfter(1_000, 0.5), 900_000);
  });
});
