/** Every outcome is paired with its input (D13-D17, D24). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type Application, type Outcome, ResponseError, VentanillaClient } from '../../client/src/index.ts';
import { pair } from '../../client/src/pairing.ts';
import type { BatchAnswer } from '../../client/src/read-answer.ts';
import { post, testService } from '../support/service.ts';
import { anInput, brief, rejection } from './support.ts';

const service = await testService();

const ID_FAULT = {
  en: ['id_number is required', 'id_number must be text of at most 64 characters'],
  es: ['cedula es requerido', 'id_number debe ser texto de máximo 64 caracteres'],
} as const;
const FAULTS = {
  en: { city: 'city is required', income: 'income is required and must be > 0 (numeric)' },
  es: { city: 'ciudad es requerido', income: 'income es requerido y debe ser > 0 (numérico)' },
} as const;

const element = fc.record({
  shape: fc.constantFrom('object', 'object', 'object', 'object', null, 'text', [1]),
  // The ID number is valid, absent, or no valid text.
  id: fc.constantFrom(
    ...(['1', '2', '3', '4', '5', '6', ' 1 '] as const).map((value) => [value, null] as const),
    [undefined, 0] as const,
    [7, 1] as const,
    ['\ud800', 1] as const,
    // The service echoes 64 code points, which are the same of the second and the third (D13).
    [`a${'x'.repeat(70)}`, 1] as const,
    [`b${'x'.repeat(70)}`, 1] as const,
    [`b${'x'.repeat(71)}`, 1] as const,
    ['\u{1F600}'.repeat(65), 1] as const,
    [true, 1] as const,
  ),
  phone: fc.constantFrom(null, null, 'a', 'b', 'c', 'd'),
  faults: fc.subarray(['city', 'income'] as const),
});
type Drawn = typeof element extends fc.Arbitrary<infer T> ? T : never;

let run = 0;

/** An element and its outcome by the contract's rules. Each outcome is unique, so a mix-up shows. */
function expectedOf(list: readonly Drawn[], cap: number | null, language: 'en' | 'es') {
  run += 1;
  const taken = new Set<string>();
  let registered = 0;
  return list.map(({ shape, id: [id_number, idFault], phone: line, faults }, index) => {
    if (shape !== 'object') {
      const expected =
        language === 'en' ? 'application must be an object' : 'la solicitud debe ser un objeto';
      return { input: shape, expected };
    }
    const phone = line === null ? null : `+5730${String(run).padStart(6, '0')}${line.charCodeAt(0)}`;
    const name = `Applicant ${index}`;
    const wrong = Object.fromEntries(faults.map((field) => [field, null]));
    if ('income' in wrong) wrong.income = 0 as never;
    const input = anInput({ name, id_number, phone, ...wrong });
    const texts = faults.map((field) => FAULTS[language][field] as string);
    if (idFault !== null) texts.unshift(ID_FAULT[language][idFault]);
    if (texts.length > 0) return { input, expected: texts.join('; ') };
    // The quota comes before the duplicate (D16).
    if (cap !== null && registered >= cap) return { input, expected: 'quota_exceeded' };
    if (phone !== null && taken.has(phone)) return { input, expected: 'duplicate' };
    registered += 1;
    if (phone !== null) taken.add(phone);
    return { input, expected: `registered ${name}` };
  });
}

function told(outcome: Outcome): string {
  if (outcome.kind === 'registered') return `registered ${outcome.name}`;
  return outcome.kind === 'invalid' ? outcome.error : outcome.kind;
}

it('property: any mixture of valid, invalid, repeated and nameless elements, in both languages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(element, { minLength: 1, maxLength: 30 }),
      fc.option(fc.nat(12)),
      fc.constantFrom('en', 'es'),
      async (list, dailyCap, language) => {
        const { apiKey } = await service.addPartner({ dailyCap, language });
        // One batch at a time: otherwise chance decides which of two inputs with one phone comes first.
        const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey, concurrency: 1 });
        const cases = expectedOf(list, dailyCap, language);
        const outcomes = await client.submit(cases.map(({ input }) => input as unknown as Application));
        assert.deepEqual(
          outcomes.map(told),
          cases.map(({ expected }) => expected),
        );
      },
    ),
    { numRuns: 40 },
  );
});

it('an answer to another batch, or with an entry too few or too many, is refused', () => {
  const result = (idNumber: string) => ({ kind: 'registered', idNumber }) as never;
  const error = (idNumber: string | null) => ({ kind: 'invalid', idNumber, error: '' }) as never;
  const answer = (results: never[], errors: never[]): BatchAnswer => ({ results, errors });
  const echoes = ['1', null, '2', null];
  const good = answer([result('2')], [error('1'), error(null), error(null)]);
  assert.deepEqual(brief(pair(echoes, good)), ['invalid 1', 'invalid null', 'registered 2', 'invalid null']);
  const cases: [what: string, answer: BatchAnswer][] = [
    ['nothing', answer([], [])],
    ['one too few', answer([result('2')], [error('1'), error(null)])],
    ['one too many', answer([result('2')], [error('1'), error(null), error(null), error(null)])],
    ['an entry twice', answer([result('1'), result('2')], [error('1'), error(null), error(null)])],
    ['another order', answer([result('2'), result('1')], [error(null), error(null)])],
    ['another echo', answer([result('3')], [error('1'), error(null), error(null)])],
    ['a nameless one registered', answer([result('2'), result(null as never)], [error('1'), error(null)])],
  ];
  for (const [what, wrong] of cases) assert.throws(() => pair(echoes, wrong), ResponseError, what);
});

it('submitBatch refuses applications whose outcomes could not be told apart, before anything is sent', async () => {
  const { apiKey } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
  const twice = [anInput({ id_number: 'A' }), anInput({ id_number: 'A ' })];
  const before = service.log.length;
  await rejection(RangeError, client.submitBatch(twice, { idempotencyKey: 'k' }));
  await rejection(RangeError, client.submitBatch([], { idempotencyKey: 'k' }));
  await rejection(RangeError, client.submitBatch([anInput()], { idempotencyKey: 'ñ' }));
  await rejection(RangeError, client.submitBatch([anInput()], {} as never));
  assert.equal(service.log.length, before);
});

it('two orders of a batch with an ID number twice get the same answer, which is why the client cuts there', async () => {
  const { apiKey } = await service.addPartner();
  const [first, second] = [anInput({ id_number: 'A', city: '' }), anInput({ id_number: 'A' })];
  const answers = await Promise.all(
    [
      [first, second],
      [second, first],
    ].map((applications) => post(`${service.url}/DEV`, apiKey, { applications })),
  );
  // Both orders get the same answer, so no client could pair it.
  assert.equal(answers[0]?.text, answers[1]?.text);
});
