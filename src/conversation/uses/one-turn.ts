/**
 * One turn of one conversation: its inputs through the rules, one after the other, with what is proven in between. What
 * the turn came to is data; `turns.ts` writes it.
 */
import { type ApplicationId, toApplicationId } from '../../applications/rules/ids.ts';
import { type ToldReply, toldReply } from '../../messages/sql/replies/told.ts';
import type { Transaction } from '../../postgres/database.ts';
import type { EvidenceEntry, Proven, ProvenSignature } from '../../signing/rules/evidence.ts';
import { composeReply } from '../rules/compose.ts';
import type { Effect, SayEffect, Told } from '../rules/effect.ts';
import { type Input, isOfPerson, type QuestionRead } from '../rules/input.ts';
import { next } from '../rules/next.ts';
import { isEnd } from '../rules/places.ts';
import { newState, type State, storedState } from '../rules/state.ts';
import { nextTimer, restOfExpiry, WINDOW_MS } from '../rules/timers.ts';
import type { ClaimedConversation, WrittenTurn } from '../sql/conversations.ts';
import type { NewWork } from '../sql/work.ts';
import { actOf, shownBy } from './evidence.ts';
import type { Signing } from './ports.ts';
import { ruleInputOf } from './rule-input.ts';
import type { OpenedInput, TurnResult, Voice } from './turn-result.ts';

/** What is known of a conversation beside its row and its inputs. */
export interface TurnFacts {
  /** An input cannot be read. */
  readonly isDamaged: boolean;
  /** Of the newest reply: `never`: it will not arrive. `maybe`: the channel did not say that it took the reply. */
  readonly untold: 'never' | 'maybe' | null;
  /** The channel's id of the person's message that the turn answers, where it takes none; null: there is none. */
  readonly answers: string | null;
}

/** Takes a turn of a conversation that the transaction has locked. `now` is the database's clock. */
export async function takeTurn(
  session: Transaction,
  signing: Signing,
  row: ClaimedConversation,
  inputs: readonly OpenedInput[],
  voice: Voice,
  { isDamaged, untold, answers }: TurnFacts,
): Promise<TurnResult> {
  const turn = new OneTurn(session, signing, row, voice, answers);
  const persons = inputs.some(({ row: { source } }) => source === 'person');
  // How it ended is told again also where it may have arrived: nothing else would tell it.
  if (untold === 'never' || (untold === 'maybe' && isEnd(row.place)))
    await turn.apply({ kind: 'unsaid' }, null);
  // A person who writes at the last moment is not reminded.
  if (row.timer !== null && row.due_at !== null && row.due_at <= row.now && !persons) {
    const restMs = restOfExpiry(row.timer, row.due_at.getTime() - row.moved_at.getTime(), waitedMsOf(row));
    if (restMs > 0) turn.waitOn(restMs);
    else await turn.apply({ kind: 'timer', timer: row.timer }, null);
  }
  // The ends of work come last: what was sent beside them cannot answer what they ask.
  const isWork = ({ row: { source } }: OpenedInput) => source === 'work';
  for (const input of inputs) if (!isWork(input)) await turn.take(input);
  for (const input of inputs) if (isWork(input)) await turn.take(input);
  if (isDamaged) await turn.apply({ kind: 'unreadable' }, null);
  return turn.end();
}

class OneTurn {
  readonly #session: Transaction;
  readonly #signing: Signing;
  readonly #row: ClaimedConversation;
  readonly #voice: Voice;
  readonly #applicationId: ApplicationId;
  readonly #number: number;
  readonly #says: SayEffect[] = [];
  readonly #work: NewWork[] = [];
  readonly #told: Told[] = [];
  readonly #evidence: EvidenceEntry[] = [];
  #state: State;
  #heardAt: Date | null;
  #channelId: string | null;
  #restMs: number | null = null;
  #reminds = false;
  #withdraws = false;
  #acceptedInput: string | null;

  constructor(
    session: Transaction,
    signing: Signing,
    row: ClaimedConversation,
    voice: Voice,
    answers: string | null,
  ) {
    this.#channelId = answers;
    this.#session = session;
    this.#signing = signing;
    this.#row = row;
    this.#voice = voice;
    this.#applicationId = toApplicationId(row.application_id);
    this.#number = row.turn + 1;
    this.#state = row.state === null ? newState(row.status) : storedState(row.state);
    this.#heardAt = row.heard_at;
    this.#acceptedInput = row.accepted_input;
  }

  /** An input as it is stored. */
  async take(input: OpenedInput): Promise<void> {
    const { row, content } = input;
    if (row.source === 'person') {
      if (this.#heardAt === null || row.at > this.#heardAt) this.#heardAt = row.at;
      this.#channelId = content.channelId ?? this.#channelId;
    }
    const canSay = this.#heardAt !== null && this.#windowUntil > this.#row.now;
    await this.apply(ruleInputOf(content, row.at, this.#state, canSay), input);
  }

  /** An input of the rules, and the proofs that follow from it. */
  async apply(input: Input, from: OpenedInput | null): Promise<void> {
    const { state, effects } = next(this.#voice.flow, this.#state, input);
    this.#state = state;
    for (const effect of effects) await this.#perform(effect, input, from);
  }

  /** The conversation expires so much later than its timer says. */
  waitOn(restMs: number): void {
    this.#restMs = restMs;
  }

  async end(): Promise<TurnResult> {
    // After an opt-out nothing follows, also nothing of what came before it in the same turn.
    if (this.#state.optedOut) this.#says.length = this.#work.length = 0;
    const isOpen = this.#windowUntil > this.#row.now;
    // A question that cannot be told now is asked when the person writes, and the template says so.
    if (this.#says.length > 0 && !isOpen) await this.apply({ kind: 'unsaid' }, null);
    const reply = isOpen
      ? composeReply({ ...this.#voice, applicationId: this.#applicationId }, this.#state, this.#says)
      : null;
    if (reply !== null) this.#evidence.push(...shownBy(reply, this.#number, this.#row.now));
    const state =
      reply !== null && reply.shows !== null ? { ...this.#state, askedTurn: this.#number } : this.#state;
    const contractTurn = reply?.document ? this.#number : this.#row.contract_turn;
    return {
      written: {
        id: this.#row.id,
        state,
        turn: this.#number,
        heardAt: this.#heardAt,
        timer: this.#timerOf(state),
        contractTurn,
        acceptedInput: this.#acceptedInput,
      },
      applicationId: this.#applicationId,
      reply: reply && { ...reply, windowUntil: this.#windowUntil, readMessageId: this.#channelId },
      work: this.#work,
      told: this.#told,
      evidence: this.#evidence,
      withdraws: this.#withdraws,
      reminds: this.#reminds && !isEnd(state.place) && !state.optedOut,
    };
  }

  #timerOf(state: State): WrittenTurn['timer'] {
    const timer = nextTimer(this.#voice.flow, state, { heardAt: this.#heardAt, movedAt: this.#row.now });
    if (timer?.timer !== 'expire' || this.#restMs === null) return timer;
    return { timer: 'expire', at: new Date(this.#row.now.getTime() + this.#restMs) };
  }

  get #windowUntil(): Date {
    return new Date((this.#heardAt?.getTime() ?? Number.NEGATIVE_INFINITY) + WINDOW_MS);
  }

  async #perform(effect: Effect, input: Input, from: OpenedInput | null): Promise<void> {
    switch (effect.kind) {
      case 'say':
        this.#says.push(effect);
        return;
      case 'work':
        this.#work.push({
          conversationId: this.#row.id,
          applicationId: this.#applicationId,
          work: effect.work,
          purpose: effect.work === 'read_document' ? effect.purpose : null,
          inputId: isAboutInput(effect.work) ? (from?.row.id ?? null) : null,
        });
        return;
      case 'check': {
        const text = input.kind === 'text' && isOfPerson(input) ? input.body : '';
        const checked = this.#signing.checkAnswer(this.#session, this.#applicationId, effect.question, text);
        return this.apply({ kind: 'answer', result: this.#noted(await checked) }, from);
      }
      case 'look': {
        const result = await this.#questionRead(effect.isProven, from);
        return this.apply({ kind: 'question_read', result }, from);
      }
      case 'sign': {
        const signed = await this.#sign();
        const { lastDay } = signed;
        const until = lastDay && dayText(lastDay, this.#voice.locale);
        return this.apply({ kind: 'signature', result: this.#noted(signed), until }, from);
      }
      case 'withdraw': {
        const result = this.#noted(await this.#signing.withdraw(this.#session, this.#applicationId));
        this.#withdraws ||= result === 'withdrawn';
        return this.apply({ kind: 'withdrawal', result }, from);
      }
      case 'tell':
        this.#told.push(effect);
        return;
      case 'evidence':
        this.#evidence.push(
          actOf(effect.act, from?.row ?? null, {
            ...{ turn: this.#number, now: this.#row.now },
            contract: this.#state.acceptedContract,
          }),
        );
        if (effect.act === 'contract_accepted') this.#acceptedInput = from?.row.id ?? null;
        return;
      case 'remind':
        this.#reminds = true;
    }
  }

  /**
   * Whether the person can have read the open question. A button under it is of the message that has it; a word and
   * the buttons of a reminder can be older than the question, or come while it is on its way to the phone: these count
   * once the channel has told of its arrival.
   */
  async #questionRead(isProven: boolean, from: OpenedInput | null): Promise<QuestionRead> {
    const { askedTurn } = this.#state;
    const reply = askedTurn === null ? null : await this.#toldAt(askedTurn);
    if (reply === null || reply.fate === 'lost') return 'cannot';
    // The button is the proof, also where the service has not noted yet that the channel took the question.
    if (isProven) return 'can';
    if (reply.fate !== 'taken') return reply.fate === 'queued' ? 'coming' : 'may';
    // The channel tells whole seconds: within one second nothing says what came first.
    const { arrivedAt } = reply;
    return arrivedAt !== null && from !== null && arrivedAt < from.row.at ? 'can' : 'cannot';
  }

  #toldAt(turn: number): Promise<ToldReply | null> {
    return toldReply(this.#session, this.#applicationId, turn);
  }

  #noted<Result>({ result, evidence }: Proven<Result>): Result {
    this.#evidence.push(...evidence);
    return result;
  }

  async #sign(): Promise<Proven<'signed' | 'not_signable' | 'not_shown'> & Pick<ProvenSignature, 'lastDay'>> {
    const { acceptedContract } = this.#state;
    const shownTurn = this.#row.contract_turn;
    if (acceptedContract === null || this.#acceptedInput === null || shownTurn === null)
      return { result: 'not_signable', evidence: [], lastDay: null };
    if ((await this.#toldAt(shownTurn))?.fate !== 'taken')
      return { result: 'not_shown', evidence: [], lastDay: null };
    return this.#signing.sign(this.#session, this.#applicationId, {
      contract: acceptedContract,
      acceptedInput: this.#acceptedInput,
      shownTurn,
    });
  }
}

function isAboutInput(work: NewWork['work']): boolean {
  return work === 'read_document' || work === 'answer_source';
}

function waitedMsOf({ waited_ms: waited }: ClaimedConversation): number | null {
  return waited === null ? null : Number(waited);
}

/** A date (YYYY-MM-DD) as people write it. */
function dayText(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date));
}
