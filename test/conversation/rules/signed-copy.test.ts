/** The signed contract in the chat (D46), as the rules have it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import type { Input } from '../../../src/domain/conversation/input.ts';
import { storedState } from '../../../src/domain/conversation/state.ts';
import { copySaid } from '../../../src/subjects/conversation/rules/signed-copy.ts';
import { run, type Stepped, said, stepped, text, wayTo } from './support.ts';

const SIGNED: Input = {
  kind: 'signed_contract',
  contract: { sha256: 'b'.repeat(64), mediaId: 'm', filename: 's.pdf' },
};
const LOST: Input = { kind: 'copy_reply', isLost: true };
const after = (...inputs: Input[]): Stepped => inputs.reduce<Stepped>(turnOf, run(wayTo('signed')));
/** A turn with one input, whose reply is queued. */
function turnOf({ state: before }: Stepped, input: Input): Stepped {
  const { state, effects } = stepped(DEFAULT_FLOW, before, input);
  const says = effects.filter((effect) => effect.kind === 'say');
  return { state: says.length > 0 ? copySaid(state, 9, says) : state, effects };
}
const isMade = ({ effects }: Stepped) =>
  effects.some((effect) => effect.kind === 'work' && effect.work === 'finish_contract');

describe('the signed contract', () => {
  it('is made with the signature, and said once with its hash', () => {
    assert.ok(isMade(run(wayTo('signed'))));
    const [copy, ...more] = after(SIGNED).effects;
    assert.deepEqual(more, []);
    assert.ok(copy?.kind === 'say' && copy.document !== null);
    assert.equal(copy.values.hash?.replaceAll(' ', ''), 'b'.repeat(64));
    assert.deepEqual(said(after(SIGNED, SIGNED)), []);
  });

  it('is made again with the next message where it did not arrive, and only then', () => {
    assert.ok(isMade(after(SIGNED, LOST, text('gracias'))));
    assert.ok(isMade(after({ kind: 'work_failed' }, text('hola'))));
    assert.ok(isMade(after({ kind: 'signed_contract', contract: null }, text('hola'))));
    assert.ok(!isMade(after(SIGNED, text('hola'))));
    assert.ok(!isMade(after(SIGNED, { kind: 'next_day' }, text('hola'))));
    assert.ok(isMade(after(SIGNED, text('hola'), LOST, text('hola'))));
    // Something else does not arrive.
    assert.ok(!isMade(after(SIGNED, { kind: 'unsaid' }, text('hola'))));
    assert.ok(!isMade(after(SIGNED, LOST, { kind: 'copy_reply', isLost: false }, text('hola'))));
  });

  it('comes also while an operator speaks', () => {
    assert.deepEqual(said(after(text('asesor'), SIGNED)), ['signed_copy']);
  });

  it('does not come to somebody else, and waits for the applicant', () => {
    const held = after(text('número equivocado'), SIGNED);
    assert.deepEqual([said(held), held.state.signedCopy], [[], 'due']);
    const back = after(
      text('número equivocado'),
      SIGNED,
      { kind: 'operator', act: 'give_back' },
      text('hola'),
    );
    assert.ok(isMade(back));
  });

  it('does not come after an opt-out, nor after a withdrawal', () => {
    assert.deepEqual(said(after(text('BAJA'), SIGNED)), []);
    assert.deepEqual(said(after(text('RETRACTO'), SIGNED)), []);
  });

  it('comes exactly once in every order of messages, failures and late arrivals, but for what the channel leaves open', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60, size: 'max' }), (events) => {
        const chat = new Chat();
        for (const one of events) chat.happens(one);
        chat.goesWell();
        assert.ok(chat.copies.some(({ fate }) => fate === 'arrived'));
        const open = chat.copies.filter(({ fate, wasUncertain }) => fate === 'arrived' && !wasUncertain);
        assert.ok(open.length <= 1, JSON.stringify(chat.copies));
      }),
    );
  });

  it('is read of a state that was stored before its turn was', () => {
    const { copyTurn, ...state } = after(SIGNED).state;
    const stored = (signedCopy: 'newest' | 'sent' | 'due' | 'none') => {
      const { signedCopy: copy, copyTurn: turn } = storedState({ ...state, signedCopy } as never, 7);
      return [copy, turn];
    };
    assert.equal(copyTurn, 9);
    assert.deepEqual(stored('newest'), ['said', 7]);
    assert.deepEqual(stored('sent'), ['said', null]);
    assert.deepEqual(stored('due'), ['due', null]);
    assert.deepEqual(stored('none'), ['none', null]);
  });
});

const event = fc.oneof(
  fc.constantFrom(...(['writes', 'thanks', 'asks for a person', 'work ends', 'given back'] as const)),
  fc.constantFrom(...(['operator writes', 'a day begins', 'window closes'] as const)),
  fc.record({
    reply: fc.nat(3),
    fate: fc.constantFrom('arrived' as const, 'failed' as const, 'uncertain' as const),
  }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

interface Reply {
  readonly turn: number;
  readonly isCopy: boolean;
  fate: 'coming' | 'arrived' | 'failed' | 'uncertain';
  wasUncertain: boolean;
}

/** A chat after the signature, with what the channel does to its replies. */
class Chat {
  readonly #replies: Reply[] = [];
  #state = run(wayTo('signed')).state;
  #turn = 9;
  #isFinishing = true;
  #isOpen = true;

  get copies(): readonly Reply[] {
    return this.#replies.filter(({ isCopy }) => isCopy);
  }

  happens(one: Event): void {
    if (typeof one === 'object') {
      const reply = this.#replies.at(-1 - one.reply);
      // What failed or arrived stays so. What is uncertain may still be told.
      if (reply?.fate !== 'coming' && reply?.fate !== 'uncertain') return;
      reply.fate = one.fate;
      reply.wasUncertain ||= one.fate === 'uncertain';
      return;
    }
    switch (one) {
      case 'writes':
      case 'thanks':
      case 'asks for a person':
        this.#isOpen = true;
        this.#take(text({ writes: 'hola', thanks: 'gracias', 'asks for a person': 'asesor' }[one]));
        return;
      case 'work ends':
        if (!this.#isFinishing) return;
        this.#isFinishing = false;
        this.#take(SIGNED);
        return;
      case 'given back':
        this.#take({ kind: 'operator', act: 'give_back' });
        return;
      case 'operator writes':
        if (this.#isOpen) this.#say(++this.#turn, false);
        return;
      case 'a day begins':
        this.#take({ kind: 'next_day' });
        return;
      case 'window closes':
        this.#isOpen = false;
    }
  }

  /** From now on everything arrives. */
  goesWell(): void {
    for (let index = 0; index < 2; index += 1) {
      for (const reply of this.#replies) if (reply.fate === 'coming') reply.fate = 'arrived';
      this.happens('writes');
      this.happens('work ends');
    }
    for (const reply of this.#replies) if (reply.fate === 'coming') reply.fate = 'arrived';
  }

  #take(input: Input): void {
    this.#turn += 1;
    const { copyTurn } = this.#state;
    const copy = this.#replies.find(({ turn }) => turn === copyTurn);
    const isLost = (reply: Reply) => reply.fate === 'failed' || reply.fate === 'uncertain';
    if (copy !== undefined) this.#apply({ kind: 'copy_reply', isLost: isLost(copy) });
    const newest = this.#replies.at(-1);
    if (newest !== undefined && isLost(newest)) this.#apply({ kind: 'unsaid' });
    const says = this.#apply(input).filter((effect) => effect.kind === 'say');
    if (says.length === 0 || !this.#isOpen) return;
    const isCopy = says.some(({ text: key }) => key === 'signed_copy');
    assert.ok(!isCopy || copy === undefined || isLost(copy), 'a copy follows one that is lost');
    this.#state = copySaid(this.#state, this.#turn, says);
    this.#say(this.#turn, isCopy);
  }

  #apply(input: Input) {
    const { state, effects } = stepped(DEFAULT_FLOW, this.#state, input);
    this.#state = state;
    this.#isFinishing ||= isMade({ state, effects });
    return effects;
  }

  #say(turn: number, isCopy: boolean): void {
    this.#replies.push({ turn, isCopy, fate: 'coming', wasUncertain: false });
  }
}
