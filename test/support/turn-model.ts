/**
 * A conversation as the rules alone have it: the reducer over inputs in the channel's order, turn by turn, without a
 * store. Every reply reaches the phone, and the window stays open.
 */
import assert from 'node:assert/strict';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { consentValues } from '../../src/domain/conversation/consent.ts';
import { DEFAULT_FLOW } from '../../src/domain/conversation/default-flow.ts';
import type { Effect, SayEffect } from '../../src/domain/conversation/effect.ts';
import type { Input, QuestionRead } from '../../src/domain/conversation/input.ts';
import { isEnd } from '../../src/domain/conversation/places.ts';
import { newState, type State } from '../../src/domain/conversation/state.ts';
import { DAY_MS } from '../../src/ground/base/clock.ts';
import { composeReply } from '../../src/subjects/conversation/rules/compose.ts';
import { next } from '../../src/subjects/conversation/rules/next.ts';
import { copySaid } from '../../src/subjects/conversation/rules/signed-copy.ts';
import type { SealedInput } from '../../src/subjects/conversation/sql/inputs.ts';
import { ruleInputOf } from '../../src/subjects/conversation/uses/one-turn.ts';
import { TERMS } from './terms.ts';

/** An input, and when it was sent by the channel's clock; null: it is the end of work. */
export interface ModelInput {
  readonly content: SealedInput;
  readonly atMs: number | null;
}

/** The last day and the end of the time in which a signature may be withdrawn. */
export interface Withdrawal {
  readonly lastDay: string;
  readonly untilMs: number;
}

/** The work that a turn queues. */
type Work = Extract<Effect, { kind: 'work' }>['work'];

export class TurnModel {
  readonly replies: string[] = [];
  /** The turn from which on the person wants no more messages; null: never. */
  optedOutAt: number | null = null;
  readonly #applicationId: ApplicationId;
  readonly #withdrawal: Withdrawal;
  /** When the reply of each turn reached the phone. */
  readonly #arrivals = new Map<number, number>();
  #state: State = newState('pending_signature');
  #turn = 0;
  #heardMs: number | null = null;
  #hasContract = false;
  #hasAccepted = false;
  #says: SayEffect[] = [];
  #work: Work[] = [];

  constructor(applicationId: ApplicationId, withdrawal: Withdrawal) {
    this.#applicationId = applicationId;
    this.#withdrawal = withdrawal;
  }

  get state(): State {
    return this.#state;
  }

  /** Takes a turn, whose reply arrives at a time. Returns the work that has an end. */
  take(inputs: readonly ModelInput[], arrivesMs: number): Work[] {
    this.#turn += 1;
    this.#says = [];
    this.#work = [];
    for (const input of inputs) this.#hear(input);
    this.#reply(arrivesMs);
    const { place, optedOut, wrongPerson } = this.#state;
    if (optedOut) this.optedOutAt ??= this.#turn;
    if (optedOut || wrongPerson) return [];
    // Of a conversation that has ended no work is done, but for the copy of what was signed.
    const done = this.#work.filter((work) =>
      work === 'finish_contract' || work === 'make_schedule' ? place === 'signed' : !isEnd(place),
    );
    // Each kind of work is queued once, but for files.
    return done.filter((work, at) => work === 'read_document' || done.indexOf(work) === at);
  }

  #hear({ content, atMs }: ModelInput): void {
    if (atMs === null) {
      this.#apply(content as Input, null, '');
      return;
    }
    const before = this.#heardMs;
    this.#heardMs = Math.max(before ?? 0, atMs);
    if (before !== null && dayOf(atMs) > dayOf(before)) this.#apply({ kind: 'next_day' }, null, '');
    const body = content.kind === 'text' ? content.body : '';
    this.#apply(ruleInputOf(content, new Date(atMs), this.#state, true), atMs, body);
  }

  #apply(input: Input, atMs: number | null, body: string): void {
    const { state, effects } = next(DEFAULT_FLOW, this.#state, input);
    this.#state = state;
    for (const effect of effects) {
      const proof = this.#perform(effect, atMs, body);
      if (proof !== null) this.#apply(proof, atMs, body);
    }
  }

  #perform(effect: Effect, atMs: number | null, body: string): Input | null {
    switch (effect.kind) {
      case 'say':
        this.#says.push(effect);
        return null;
      case 'work':
        this.#work.push(effect.work);
        return null;
      case 'look':
        return { kind: 'question_read', result: this.#questionRead(effect.isProven, atMs) };
      case 'check': {
        const right = effect.question === 'last_four' ? '1234' : '123456';
        return { kind: 'answer', result: body === right ? 'right' : 'wrong' };
      }
      case 'debts':
        // As `goodSigning` does.
        if (effect.act === 'forget') return null;
        if (effect.act === 'ask') return { kind: 'debts', result: 'none' };
        if (effect.act === 'read') return { kind: 'debts', result: 'same' };
        return { kind: 'debts', result: 'told', debts: 'Banco Azul: $ 1', sum: '$ 1' };
      case 'sign': {
        const isSignable = this.#state.acceptedContract !== null && this.#hasAccepted && this.#hasContract;
        return isSignable
          ? { kind: 'signature', result: 'signed', withdrawal: this.#withdrawal }
          : { kind: 'signature', result: 'not_signable', withdrawal: null };
      }
      case 'withdraw':
        return { kind: 'withdrawal', result: 'withdrawn' };
      case 'evidence':
        this.#hasAccepted ||= effect.act === 'contract_accepted';
        return null;
      default:
        return null;
    }
  }

  #questionRead(isProven: boolean, atMs: number | null): QuestionRead {
    const { askedTurn } = this.#state;
    if (askedTurn === null) return 'cannot';
    if (isProven) return 'can';
    return this.#arrivals.get(askedTurn)! < atMs! ? 'can' : 'cannot';
  }

  #reply(arrivesMs: number): void {
    const { optedOut, wrongPerson } = this.#state;
    if (optedOut) this.#says = [];
    else if (wrongPerson) this.#says = this.#says.filter(({ text }) => text === 'wrong_person');
    const speaker = { flow: DEFAULT_FLOW, language: 'es', partner: 'Acme' } as const;
    const consent = consentValues('es', TERMS.countries.CO);
    const about = { ...speaker, consent, applicationId: this.#applicationId };
    const reply = composeReply(about, this.#state, this.#says);
    if (reply === null) return;
    assert.ok(this.optedOutAt === null, 'nothing is said after an opt-out');
    this.replies.push(reply.text);
    this.#arrivals.set(this.#turn, arrivesMs);
    this.#state = copySaid(this.#state, this.#turn, this.#says);
    if (reply.shows !== null) this.#state = { ...this.#state, askedTurn: this.#turn };
    this.#hasContract ||= reply.shows === 'contract';
  }
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
