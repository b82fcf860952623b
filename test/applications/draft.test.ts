/** The draft of an answer, from which a replay is made (D36). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { FIELDS, namedFields } from '../../src/domain/application/fields.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';
import { DECISIONS } from '../../src/domain/scorecard/scorecard.ts';
import { type AssessedOutcome, decodeDraft, encodeDraft } from '../../src/subjects/applications/sql/draft.ts';

const CHANNELS = ['messaging', 'acme', 'n'.repeat(40)];
const NAMES = CHANNELS.flatMap((channel) => namedFields(channel).flatMap(({ names }) => names));
const VALID = Object.fromEntries(FIELDS.map(({ name, example }) => [name, example]));

const value = fc.constantFrom<unknown>(
  ...[
    undefined,
    null,
    '',
    ' ',
    0,
    7,
    1e30,
    true,
    false,
    [],
    {},
    'x',
    ' \u{1F600} ',
    '\ud800',
    'x'.repeat(300),
  ],
  ...['+573005550101', '1', 'lt6', 'si', '12'],
);
const element = fc.oneof(
  fc.constantFrom<unknown>(null, 'text', 7, [VALID]),
  fc
    .dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 12 })
    .map((changes) => ({ ...VALID, ...changes })),
  fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 30 }),
);
const channel = fc.constantFrom(...CHANNELS);

/** The outcomes of these elements, with these decisions and scores of the valid ones. */
function assessed(
  elements: readonly unknown[],
  channelName: string,
  scores: readonly number[],
): AssessedOutcome[] {
  return elements.map((one, index): AssessedOutcome => {
    const reading = readApplication(one, namedFields(channelName), 'CO');
    if (reading.kind !== 'valid') return reading;
    const { id_number: idNumber, name } = reading.application;
    const score = scores[index] ?? 0;
    return { kind: 'registered', idNumber, name, id: null, score, decision: DECISIONS[score % 3]! };
  });
}

it('property D36: with the body, a draft gives the same outcomes, whatever the name of the channel is by then', () => {
  fc.assert(
    fc.property(
      fc.array(element, { minLength: 1, maxLength: 100 }),
      fc.constantFrom('en', 'es'),
      channel,
      channel,
      fc.array(fc.nat(100), { minLength: 100, maxLength: 100 }),
      (elements, language, before, now, scores) => {
        const outcomes = assessed(elements, before, scores);
        const draft = encodeDraft({ language, outcomes });
        assert.ok(draft.length <= 1_001, `${draft.length} bytes`);
        assert.deepEqual(decodeDraft(draft, elements, namedFields(now)), { language, outcomes });
      },
    ),
    { numRuns: 300 },
  );
});

it('D36: a draft holds nothing that the elements hold', () => {
  const secret = {
    ...VALID,
    name: 'Zoraida',
    id_number: '987654321',
    city: 'Leticia',
    phone: '+573117654321',
  };
  const elements = [secret, { ...secret, income: 0 }, { ...secret, id_number: `987654321${'x'.repeat(99)}` }];
  const draft = encodeDraft({ language: 'en', outcomes: assessed(elements, 'acme', [1, 2, 3]) });
  assert.equal(draft.length, 1 + 2 + 7 + 7);
});

it('a draft of an unknown layout is refused', () => {
  assert.throws(() => decodeDraft(Buffer.from('{"language":"en"}'), [{}], namedFields('acme')), RangeError);
});

it('D36, D53: a draft of version 1.0 is read, and one without faults of newer fields has its layout', () => {
  const fields = namedFields('messaging');
  const draftOf = (...elements: unknown[]) =>
    encodeDraft({ language: 'es', outcomes: assessed(elements, 'messaging', [50, 50]) });
  const old = { name: 7 };
  // The language, the kind, and half a byte for each of the twelve fields of 1.0.
  const draft = draftOf(old);
  assert.deepEqual([draft.length, draft[0], draft[1]], [1 + 1 + 6, 1, 1]);
  const newer = { ...VALID, consent_at: 'x', consent_channel: 7 };
  const wide = draftOf(newer, old);
  assert.deepEqual([wide.length, wide[0]], [1 + 2 * (1 + 8), 3]);
  const { outcomes } = decodeDraft(wide, [newer, old], fields);
  assert.deepEqual(outcomes, assessed([newer, old], 'messaging', []));
  assert.throws(() => decodeDraft(Buffer.of(4), [old], fields), RangeError);
});
