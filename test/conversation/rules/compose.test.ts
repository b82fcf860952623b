/** What a turn says, and when a conversation reminds (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { flowFaults } from '../../../src/domain/conversation/check-flow.ts';
import { consentValues } from '../../../src/domain/conversation/consent.ts';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { ask, say } from '../../../src/domain/conversation/effect.ts';
import {
  completeChanges,
  flowWith,
  LANGUAGES,
  LONGEST_VALUE,
  TEXTS,
} from '../../../src/domain/conversation/flow.ts';
import { CHOICES, UNDER } from '../../../src/domain/conversation/input.ts';
import { PLACES } from '../../../src/domain/conversation/places.ts';
import { newState } from '../../../src/domain/conversation/state.ts';
import { WINDOW_MS } from '../../../src/domain/message/reply.ts';
import { composeReply } from '../../../src/subjects/conversation/rules/compose.ts';
import { formatPayload, parsePayload } from '../../../src/subjects/conversation/rules/payload.ts';
import { nextTimer } from '../../../src/subjects/conversation/rules/timers.ts';
import { DEMO_TERMS } from '../../../src/subjects/signing/rules/demo-terms.ts';
import { file, OUTLOOK, run, stepped, text, wayTo } from './support.ts';

const speaker = {
  flow: DEFAULT_FLOW,
  language: 'es',
  partner: 'Acme',
  applicationId: toApplicationId(128),
} as const;
const HOUR_MS = 3_600_000;

function replyTo(inputs: Parameters<typeof run>[0], from: Parameters<typeof run>[0]) {
  const before = run(from);
  let { state } = before;
  const effects = inputs.flatMap((input) => {
    const after = stepped(DEFAULT_FLOW, state, input);
    state = after.state;
    return after.effects;
  });
  const says = effects.filter((effect) => effect.kind === 'say');
  return composeReply(speaker, state, says);
}

describe('the reply of a turn (D43)', () => {
  it('several files in a row are answered once, with their number', () => {
    const reply = replyTo([file, file, file], wayTo('earnings'));
    assert.match(reply?.text ?? '', /\(3\)/);
    assert.equal(reply?.text.match(/Recibimos/g)?.length, 1);
    assert.deepEqual(
      reply?.buttons.map(({ title }) => title),
      ['Ya envié todo'],
    );
  });

  it('has one question, the last, whose buttons carry application, step and nonce', () => {
    const reply = replyTo([text('qué'), text('sí'), OUTLOOK], wayTo('data_consent'));
    assert.match(reply?.text ?? '', /^Perdona[\s\S]*comprobantes de tus ingresos[\s\S]*ASESOR\.$/);
    assert.doesNotMatch(reply?.text ?? '', /autorizas/);
    const consent = replyTo(wayTo('data_consent'), []);
    assert.deepEqual(
      consent?.buttons.map(({ payload }) => payload),
      ['c.128.data_consent.1.yes', 'c.128.data_consent.1.no'],
    );
  });

  it('asks nothing where the same turn hands over: the person comes', () => {
    const reply = replyTo([text('qué'), text('cómo'), text('ni idea')], wayTo('data_consent'));
    assert.match(reply?.text ?? '', /Una persona del equipo te escribirá por este chat\.$/);
    assert.doesNotMatch(reply?.text ?? '', /te atiende una persona|autorizas/);
    assert.deepEqual(reply?.buttons, []);
  });

  it('promises no person where the same turn ends the conversation after the hand-over', () => {
    const reply = replyTo([text('ASESOR'), text('RETRACTO')], wayTo('summary'));
    assert.match(reply?.text ?? '', /^Entendido\. Registramos que te retiras\.$/);
  });

  it('names the partner and the service, and a way to a person', () => {
    for (const language of LANGUAGES) {
      const { state, effects } = run(wayTo('data_consent'));
      const says = effects.filter((effect) => effect.kind === 'say');
      const reply = composeReply({ ...speaker, language }, state, says);
      assert.match(reply?.text ?? '', /Acme/);
      assert.match(reply?.text ?? '', /Ventanilla/);
      assert.match(reply?.text ?? '', /ASESOR|ATENDENTE|AGENT/);
    }
  });
});

describe('a question that is too long for its reply (D46)', () => {
  const texts = { person_hint: 'Aviso legal. '.repeat(27), earnings: 'Comprobantes. '.repeat(62) };

  it('loses the hint under it, and what stands before it, but never itself', () => {
    const flow = flowWith(DEFAULT_FLOW, { texts: { es: texts } });
    const { state } = run(wayTo('earnings'));
    const reply = composeReply({ ...speaker, flow }, state, [say('not_understood'), ask('earnings', [])]);
    assert.ok(reply !== null);
    assert.ok(reply.text.endsWith(texts.earnings));
    assert.ok(reply.text.length <= 1024);
  });

  it('is refused with the hint of its brand', () => {
    const faults = flowFaults({ texts: { es: texts } }, 'c');
    assert.equal(faults.length, 1);
    assert.match(
      faults[0] ?? '',
      /^c\.texts\.es\.(summary|earnings): can have \d+ characters with person_hint and the longest values; the limit is 1024$/,
    );
    assert.match(
      flowFaults({ texts: { pt: { person_hint: 'x'.repeat(790) } } }, 'c')[0]!,
      /^c\.texts\.pt\.(summary|consent): /,
    );
  });
});

describe('the default flow', () => {
  it('passes the check of flows, in every language', () => {
    assert.deepEqual(flowFaults(DEFAULT_FLOW, 'conversation'), []);
  });

  it('every question fits into a reply with the longest values', () => {
    for (const language of LANGUAGES) {
      const texts = DEFAULT_FLOW.texts[language];
      for (const [key, one] of Object.entries(texts)) {
        const filled = `${one}\n\n${texts.person_hint}`.replace(/\{([a-z_]+)\}/g, (_, value) =>
          ' '.repeat(LONGEST_VALUE[value as keyof typeof LONGEST_VALUE]),
        );
        assert.ok(filled.length <= 1024, `${language} ${key}: ${filled.length}`);
      }
    }
  });
});

describe('the check of a brand’s flow names the place and the rule', () => {
  const cases: [changes: unknown, fault: RegExp][] = [
    [{ texts: { es: { summary: 'Tu oferta: {amount}' } } }, /^c\.texts\.es\.summary: must have \{net\}/],
    [
      { texts: { es: { consent: 'Hola {name}' } } },
      /^c\.texts\.es\.consent: the placeholder \{name\} is not allowed/,
    ],
    [{ texts: { fr: {} } }, /^c\.texts: unknown key "fr"/],
    [{ text: {} }, /^c: unknown key "text"/],
    [{ buttons: { pt: { yes: 'x'.repeat(21) } } }, /^c\.buttons\.pt\.yes: must be text of 1 to 20/],
    [{ buttons: { es: { yes: 'No, gracias' } } }, /^c\.buttons\.es: has the same title twice/],
    [{ buttons: { es: { done: 'Basta' } } }, /^c\.buttons\.es\.done: asks for no more messages/],
    [{ limits: { files: 0 } }, /^c\.limits\.files: /],
    [{ texts: { en: { earnings: 'x'.repeat(900) } } }, /can have 900 characters/],
    [
      { texts: { es: { consent: '¿Autorizas a {lender} para {purposes}? {data_rights}' } } },
      /^c\.texts\.es\.consent: must have \{privacy_notice\}/,
    ],
    [7, /^c: /],
  ];
  for (const [changes, fault] of cases) {
    it(`${JSON.stringify(changes).slice(0, 60)}`, () =>
      assert.match(flowFaults(changes, 'c')[0] ?? '', fault));
  }
  it('every text has the placeholders that it may have', () => {
    for (const [key, values] of Object.entries(TEXTS)) {
      for (const value of values)
        assert.ok(DEFAULT_FLOW.texts.es[key as keyof typeof TEXTS].includes(`{${value}}`));
    }
  });
});

it('a payload comes back as it was made, and no other text is one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 45 }),
      fc.constantFrom(...PLACES),
      fc.nat(10 ** 6),
      fc.constantFrom(...CHOICES),
      fc.constantFrom(...UNDER),
      (id, place, nonce, choice, under) => {
        const payload = { applicationId: toApplicationId(id), place, nonce, choice, under };
        assert.deepEqual(parsePayload(formatPayload(payload)), payload);
        assert.ok(formatPayload(payload).length <= 256);
      },
    ),
  );
  for (const wrong of [
    '',
    'interested.128',
    'c.128',
    'c.0.code.1.yes',
    'c.1.code.01.yes',
    'c.1.nowhere.1.yes',
    'c.1.code.1.yes ',
    'c.1.code.1.yes.question',
    'c.1.code.1.yes.longer',
  ]) {
    assert.equal(parsePayload(wrong), null, wrong);
  }
});

describe('timers (D43)', () => {
  const heardAt = new Date(0);
  const { state } = run(wayTo('earnings'));
  it('remind inside the window, then by the template, then end', () => {
    const first = nextTimer(DEFAULT_FLOW, state, { heardAt, movedAt: heardAt });
    assert.deepEqual(first, { timer: 'remind', at: new Date(WINDOW_MS - 2 * HOUR_MS) });
    const second = nextTimer(DEFAULT_FLOW, { ...state, reminders: 1 }, { heardAt, movedAt: first!.at });
    assert.deepEqual(second, { timer: 'template', at: new Date(26 * HOUR_MS) });
    const third = nextTimer(DEFAULT_FLOW, { ...state, reminders: 2 }, { heardAt, movedAt: second!.at });
    assert.equal(third?.timer, 'expire');
    assert.ok(third!.at > second!.at);
  });
  it('rest while the service or an operator has the next move, and after the end', () => {
    for (const place of ['checking', 'signed'] as const) {
      assert.equal(nextTimer(DEFAULT_FLOW, run(wayTo(place)).state, { heardAt, movedAt: heardAt }), null);
    }
    const held = { ...state, heldBy: 'operator' } as const;
    assert.equal(nextTimer(DEFAULT_FLOW, held, { heardAt, movedAt: heardAt }), null);
  });
  it('a question that was not told is followed by the template at once', () => {
    const unsaid = { ...state, unsaid: true };
    const movedAt = new Date(30 * HOUR_MS);
    assert.deepEqual(nextTimer(DEFAULT_FLOW, unsaid, { heardAt, movedAt }), {
      timer: 'template',
      at: movedAt,
    });
    const started = newState('in_review');
    assert.deepEqual(nextTimer(DEFAULT_FLOW, started, { heardAt: null, movedAt }), {
      timer: 'template',
      at: movedAt,
    });
  });
});

describe('D45: the question for the consent', () => {
  const terms = { ...DEMO_TERMS.countries.CO!, bureaus: 'DataCrédito' };

  it('names the lender, the purposes one by one, the rights and the notice, in every language', () => {
    for (const language of LANGUAGES) {
      const consent = consentValues(language, terms);
      const { text } = composeReply({ ...speaker, language, consent }, run(wayTo('data_consent')).state, [
        ask('consent', ['yes', 'no']),
      ])!;
      for (const told of [terms.lender.name, terms.data_rights!, terms.privacy_notice!, 'DataCrédito'])
        assert.ok(text.includes(told), `${language}: ${told}`);
      for (const number of [1, 2, 3, 4, 5]) assert.ok(text.includes(`(${number}) `), `${language} ${number}`);
      const { bureaus: _, ...silent } = terms;
      assert.doesNotMatch(consentValues(language, silent).purposes!, /\(5\)/);
      assert.doesNotMatch(text, /[{}]/);
    }
  });

  it('fits with the longest values, and its purposes do with the longest bureaus', () => {
    for (const language of LANGUAGES) {
      const longest = consentValues(language, { ...terms, bureaus: 'x'.repeat(LONGEST_VALUE.bureaus) });
      assert.ok(longest.purposes!.length <= LONGEST_VALUE.purposes, `${longest.purposes!.length}`);
    }
  });

  it('of a brand that was stored before it had these values gives way to the default', () => {
    const changes = completeChanges({ texts: { es: { consent: '¿Nos autorizas?', earnings: 'Envía' } } });
    assert.deepEqual(changes.texts, { es: { earnings: 'Envía' } });
  });
});
