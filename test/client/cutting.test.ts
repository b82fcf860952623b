/** How a submission is cut into batches, and the key of each batch (contract, "Limits"; D13, D36). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  asElement,
  type Batch,
  cutBatches,
  MAX_APPLICATIONS,
  MAX_BODY_BYTES,
  OpenBatch,
} from '../../client/src/batches.ts';
import { type Application, InputError, VentanillaClient } from '../../client/src/index.ts';
import { namedFields } from '../../src/domain/application/fields.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';
import * as limits from '../../src/wire/contract/texts.ts';
import { testService } from '../support/service.ts';
import { anInput, inputs, rejection, stored } from './support.ts';

const service = await testService();

async function cut(applications: Iterable<unknown>, submissionId = 'list'): Promise<Batch[]> {
  const batches: Batch[] = [];
  for await (const batch of cutBatches(applications as Application[], submissionId)) batches.push(batch);
  return batches;
}

const sizes = (batches: readonly Batch[]) => batches.map(({ elements }) => elements.length);
const text = ({ body }: Batch) => new TextDecoder().decode(body);

it("the client has the service's limits", () => {
  assert.equal(MAX_APPLICATIONS, limits.MAX_APPLICATIONS);
  assert.equal(MAX_BODY_BYTES, limits.MAX_BODY_BYTES);
});

it('a batch is closed at 100 applications, and before an ID number that it already has', async () => {
  const same = anInput();
  const cases: [what: string, input: unknown[], expected: number[]][] = [
    ['none', [], []],
    ['one', [anInput()], [1]],
    ['100', inputs(100), [100]],
    ['101', inputs(101), [100, 1]],
    ['250', inputs(250), [100, 100, 50]],
    ['the same one three times', [same, same, same], [1, 1, 1]],
    ['spaces around', [anInput({ id_number: 'A' }), anInput(), anInput({ id_number: ' A ' })], [2, 1]],
    ['text and number', [anInput({ id_number: 5 }), anInput({ id_number: '5' })], [1, 1]],
    ['the other name', [anInput({ id_number: 'A' }), { cedula: 'A' }], [1, 1]],
    ['elements without one', [null, 'text', {}, anInput({ id_number: null }), [], undefined], [6]],
  ];
  for (const [what, input, expected] of cases) assert.deepEqual(sizes(await cut(input)), expected, what);
});

it('property: the batches hold the inputs, in order, and each is as long as the rules allow', async () => {
  const input = fc.record({
    id_number: fc.oneof(fc.constantFrom('A', ' A', 'B', '', 7, '7', null, '\ud800', '\ufffd'), fc.nat()),
    padding: fc.constantFrom('', 'ñ'.repeat(300_000), 'x'.repeat(900_000)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(input, { maxLength: 40 }), async (list) => {
      const batches = await cut(list);
      assert.deepEqual(
        batches.flatMap(({ elements }) => elements.map((element) => element.input)),
        list,
      );
      let start = 0;
      for (const [index, batch] of batches.entries()) {
        assert.equal(batch.start, start);
        start += batch.elements.length;
        assert.ok(batch.body.length <= MAX_BODY_BYTES);
        const applications = batch.elements.map((element) => element.input);
        assert.equal(text(batch), JSON.stringify({ applications }));
        const echoes = batch.elements.map(({ echo }) => echo).filter((echo) => echo !== null);
        assert.equal(new Set(echoes).size, echoes.length);
        const next = batches[index + 1]?.elements[0];
        if (next === undefined) continue;
        const larger = new OpenBatch();
        for (const element of batch.elements) larger.add(element);
        assert.equal(larger.takes(next), false, 'it could have taken the next one');
      }
    }),
    { numRuns: 30 },
  );
});

it("D13: an echo is the service's ID number of the element, with any serialisation of the object", () => {
  const fields = namedFields('messaging');
  class Person {
    id_number = 'own';
    toJSON() {
      return { id_number: ' from toJSON ' };
    }
  }
  const elements: unknown[] = [
    ...[
      'A',
      ' A\u00a0',
      '',
      '\ud800x',
      5,
      -0,
      1e21,
      2 ** 53,
      2 ** 53 - 1,
      0.1,
      Number.NaN,
      true,
      {},
      ['A'],
      new Date(0),
    ].map((id_number) => ({
      id_number,
    })),
    { cedula: 'C' },
    { id_number: null, cedula: 'C' },
    { id_number: '', cedula: 'C' },
    { id_number: undefined, cedula: 7 },
    Object.create({ id_number: 'inherited' }),
    new Person(),
    null,
    [],
    'A',
    5,
  ];
  for (const element of elements) {
    const { json, echo } = asElement(element as Application);
    const reading = readApplication(JSON.parse(json), fields, 'CO');
    const expected = reading.kind === 'invalid' ? reading.idNumber : null;
    assert.equal(echo, expected, json);
  }
});

it('D36: the same list has the same keys; another list, another id and an equal batch have other keys', async () => {
  const list = inputs(130);
  const keys = async (applications: unknown[], id?: string) =>
    (await cut(applications, id)).map(({ idempotencyKey }) => idempotencyKey);
  const first = await keys(list);
  assert.deepEqual(await keys(structuredClone(list)), first);
  for (const key of first) assert.match(key, /^[\x20-\x7e]{1,255}$/);
  const same = anInput();
  const all = [
    ...first,
    ...(await keys(list, 'another')),
    ...(await keys(list.slice(1))),
    ...(await keys([same, same, same])),
  ];
  assert.equal(new Set(all).size, 2 + 2 + 2 + 3);
});

it('a batch that is incomplete when the inputs fail is never sent', async () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const cases: [what: string, last: () => unknown][] = [
    ['the source throws', () => assert.fail('no more')],
    ['a cycle', () => cycle],
    ['a BigInt', () => ({ income: 1n })],
    ['too large by itself', () => ({ padding: 'x'.repeat(MAX_BODY_BYTES) })],
    ['too large in bytes', () => ({ padding: 'ñ'.repeat(MAX_BODY_BYTES / 2) })],
  ];
  for (const [what, last] of cases) {
    const yielded: number[] = [];
    const source = function* () {
      yield* inputs(150);
      yield last();
    };
    const error = await rejection(
      InputError,
      (async () => {
        for await (const { elements } of cutBatches(source() as Iterable<Application>, 'list')) {
          yielded.push(elements.length);
        }
      })(),
    );
    assert.deepEqual(yielded, [100], what);
    assert.match(error.message, /^input 150 /, what);
    assert.ok(error.cause instanceof Error, what);
  }
});

it('an input that is too large is refused before anything is sent, also as the first of the list', async () => {
  await rejection(InputError, cut([{ padding: 'x'.repeat(MAX_BODY_BYTES) }, anInput()]));
});

it('the service takes a body of exactly the limit', async () => {
  const { apiKey, partnerId } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey, retries: 0 });
  const input = anInput({ padding: '' });
  const room = MAX_BODY_BYTES - new TextEncoder().encode(JSON.stringify({ applications: [input] })).length;
  const fits = { ...input, padding: 'x'.repeat(room) };
  const [batch] = await cut([fits]);
  assert.equal(batch?.body.length, MAX_BODY_BYTES);
  const outcomes = await client.submit([fits, anInput()]);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['registered', 'registered'],
  );
  assert.equal(await stored(service.database, partnerId), 2);
});
