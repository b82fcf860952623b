/**
 * Takes one turn of one conversation: gives its inputs to the rules, one after the other, and performs the checks and
 * signatures that the rules ask for (D43, D46). The result is data; `uses/write-taken.ts` writes it.
 */

import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Effect, EvidenceAct, SayEffect, Told } from '../../../domain/conversation/effect.ts';
import {
  type DebtsInput,
  type Input,
  isOfPerson,
  type QuestionRead,
} from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { newState, type State, storedState } from '../../../domain/conversation/state.ts';
import {
  type EvidenceEntry,
  type Proven,
  type ProvenSignature,
  receivedFacts,
} from '../../../domain/evidence/evidence.ts';
import type { ReceivedWithdrawal } from '../../../domain/loan/withdrawal.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { toldReply } from '../../messages/sql/replies.ts';
import { approvalSaid } from '../rules/approval.ts';
import { composeReply, type ProvenQuestion, type TurnReply } from '../rules/compose.ts';
import { next } from '../rules/next.ts';
import { parsePayload } from '../rules/payload.ts';
import { questionRead } from '../rules/questions.ts';
import { copySaid } from '../rules/signed-copy.ts';
import { nextTimer, restOfExpiry } from '../rules/timers.ts';
import type { InputRow, SealedInput } from '../sql/inputs.ts';
import type { ClaimedConversation, WrittenTurn } from '../sql/turns.ts';
import type { NewWork } from '../sql/work.ts';
import type { Signing } from './ports.ts';
import type { OpenedInput, TurnFacts, TurnResult, Voice } from './turn-result.ts';

// The first part: turns a stored input into an input of the rules.

/** Kinds of messages that come beside an answer, such as the notice before an album's pictures. */
const QUIET: readonly string[] = ['reaction', 'unsupported'];

/**
 * The input of the rules. `at`: when it was sent, or stored if it has no time of its own. `canSay`: the channel's
 * window is open. A second begin counts as the tap of another message's button.
 */
export function ruleInputOf(
  content: SealedInput,
  at: Date,
  { place, unsaid }: State,
  canSay: boolean,
): Input {
  if (content.isOfOtherPhone) return { kind: 'other_phone' };
  switch (content.kind) {
    case 'interest':
    case 'begin':
      return place === 'started' && !unsaid ? { kind: 'begin', canSay } : { kind: 'foreign_tap' };
    case 'tap': {
      const payload = parsePayload(content.payload);
      return payload === null
        ? { kind: 'foreign_tap' }
        : { kind: 'tap', ...payload, atMs: content.sentMs ?? at.getTime() };
    }
    case 'status':
      return { kind: 'status', status: content.status, canSay };
    case 'withdrawal_received':
    case 'paid_out':
      return { kind: content.kind };
    case 'handed_on':
      return { kind: 'other', isQuiet: true };
    case 'other':
      return { kind: 'other', isQuiet: QUIET.includes(content.what) };
    default:
      return content;
  }
}

/** A withdrawal that an operator recorded; null: the input is something else. */
function receivedOf(content: SealedInput | undefined): ReceivedWithdrawal | null {
  return content?.kind === 'withdrawal_received' ? content : null;
}

// The second part: the evidence of a turn, which is what its reply shows and what the person does. It has only hashes
// and ids (D46).

const KINDS = {
  consent: 'data_consent_asked',
  summary: 'offer_shown',
  contract: 'contract_shown',
} as const satisfies Readonly<Record<ProvenQuestion, EvidenceEntry['kind']>>;

/** The evidence of what a reply shows: the text, and the contract with it. Without a reply nothing was shown. */
function shownBy({ shows, text, document }: TurnReply, turn: number, now: Date): EvidenceEntry[] {
  if (shows === null) return [];
  const sha256 = hash('sha256', text);
  const facts = document === null ? { turn, sha256 } : { turn, sha256: document.sha256, text_sha256: sha256 };
  return [{ kind: KINDS[shows], at: now, facts }];
}

/**
 * The evidence of what a person does by an input. `contract` is the SHA-256 of the accepted contract. `received`: an
 * operator recorded the act for the person.
 */
function actOf(
  act: EvidenceAct,
  input: InputRow | null,
  {
    turn,
    now,
    contract,
    received,
  }: {
    readonly turn: number;
    readonly now: Date;
    readonly contract: string | null;
    readonly received: ReceivedWithdrawal | null;
  },
): EvidenceEntry {
  const facts = { turn, ...messageOf(input), ...receivedFacts(received) };
  return {
    kind: act,
    at: input?.at ?? now,
    facts: act === 'contract_accepted' ? { ...facts, sha256: contract } : facts,
  };
}

/** Adds the message that proved something to the entry, unless the entry already names one. */
function provenBy(entry: EvidenceEntry, input: InputRow | null): EvidenceEntry {
  if ('message_index' in entry.facts) return entry;
  return { ...entry, facts: { ...entry.facts, ...messageOf(input) } };
}

/** The input and its message. The index of the channel's id is in hex, as everywhere in the evidence. */
function messageOf(input: InputRow | null) {
  return { input: input?.id ?? null, message_index: input?.messageIndex ?? null };
}

/** Takes a turn of a conversation that the transaction has locked. `now` is the database's clock. */
export async function takeTurn(
  session: Transaction,
  signing: Signing,
  row: ClaimedConversation,
  inputs: readonly OpenedInput[],
  voice: Voice,
  { isDamaged, untold, answers, approvalMessage, mayRemind }: TurnFacts,
): Promise<TurnResult> {
  const turn = new OneTurn(session, signing, row, voice, answers);
  turn.noteConsent(voice.partnerConsent);
  const persons = inputs.some(({ row: { source } }) => source === 'person');
  await turn.apply({ kind: 'approval_message', message: approvalMessage }, null);
  await turn.lookAtReplies();
  // The end is told again even if it may have arrived, because nothing else would tell it.
  if (untold === 'never' || (untold === 'maybe' && isEnd(row.place)))
    await turn.apply({ kind: 'unsaid' }, null);
  const { timer, dueAt, movedAt, waitedMs } = row;
  // A person who has just written needs no reminder.
  if (timer !== null && dueAt !== null && dueAt <= row.now && !persons) {
    const restMs = restOfExpiry(timer, dueAt.getTime() - movedAt.getTime(), waitedMs);
    if (restMs > 0) turn.waitOn(restMs);
    else await turn.apply({ kind: 'timer', timer, mayRemind }, null);
  }
  // The results of work come last, because what the person sent before them cannot answer their questions.
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
  #work: NewWork[] = [];
  readonly #told: Told[] = [];
  readonly #evidence: EvidenceEntry[] = [];
  #state: State;
  #heardAt: Date | null;
  #channelId: string | null;
  #restMs: number | null = null;
  #reminds = false;
  #withdraws: TurnResult['withdraws'] = null;
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
    this.#applicationId = row.applicationId;
    this.#number = row.turn + 1;
    this.#state = row.state === null ? newState(row.status, row.turn) : storedState(row.state, row.turn);
    this.#heardAt = row.heardAt;
    this.#acceptedInput = row.acceptedInput;
  }

  /** Keeps the hash of what the partner told about the consent (D53). */
  noteConsent(sha256: string | null): void {
    if (sha256 !== null)
      this.#evidence.push({ kind: 'partner_consent_told', at: this.#row.now, facts: { sha256 } });
  }

  /** Takes a stored input. */
  async take(input: OpenedInput): Promise<void> {
    const { row, content } = input;
    // A message from another phone opens no window for the application's phone.
    if (row.source === 'person' && !content.isOfOtherPhone) {
      const before = this.#heardAt;
      if (before === null || row.at > before) this.#heardAt = row.at;
      if (before !== null && dayOf(row.at) > dayOf(before)) await this.apply({ kind: 'next_day' }, null);
      this.#channelId = content.channelId ?? this.#channelId;
      // A withdrawal that was sent in time counts as in time, even if the turn comes late.
      const until = this.#state.withdrawableUntilMs;
      if (until !== null && Math.min(row.at.getTime(), this.#row.now.getTime()) >= until)
        await this.apply({ kind: 'withdrawal_over' }, null);
    }
    const canSay = this.#heardAt !== null && this.#windowUntil > this.#row.now;
    await this.apply(ruleInputOf(content, row.at, this.#state, canSay), input);
  }

  /** Applies an input of the rules, and performs the effects that follow from it. */
  async apply(input: Input, from: OpenedInput | null): Promise<void> {
    const { state, effects } = next(this.#voice.flow, this.#state, input);
    this.#state = state;
    for (const effect of effects) await this.#perform(effect, input, from);
  }

  /** Looks what became of the replies with the signed contract, the final schedule and an approval. */
  async lookAtReplies(): Promise<void> {
    const { place, copyTurn, scheduleTurn, approval, approvalTurn } = this.#state;
    if (approval === 'said' && approvalTurn !== null)
      await this.apply({ kind: 'approval_reply', reply: await this.#toldAt(approvalTurn) }, null);
    if (place !== 'signed') return;
    for (const [kind, turn] of [
      ['copy_reply', copyTurn],
      ['schedule_reply', scheduleTurn],
    ] as const) {
      if (turn === null) continue;
      const reply = await this.#toldAt(turn);
      await this.apply({ kind, isLost: reply?.fate === 'lost' }, null);
    }
  }

  /** Lets the conversation expire this much later than its timer says. */
  waitOn(restMs: number): void {
    this.#restMs = restMs;
  }

  async end(): Promise<TurnResult> {
    // After an opt-out nothing is said, not even what came before it in the same turn. A wrong person hears only the
    // apology.
    if (this.#state.optedOut || this.#state.wrongPerson) {
      const apology = this.#says.filter(({ text }) => text === 'wrong_person');
      this.#says.splice(0, this.#says.length, ...(this.#state.optedOut ? [] : apology));
      // This work stays, because after the end it only forgets the code and asks no provider.
      this.#work = this.#work.filter(({ work }) => work === 'answer_source');
    }
    const isOpen = this.#windowUntil > this.#row.now;
    // A question that cannot be told now is asked when the person writes; the template asks the person to write.
    if (this.#says.length > 0 && !isOpen) await this.apply({ kind: 'unsaid' }, null);
    const reply = isOpen
      ? composeReply({ ...this.#voice, applicationId: this.#applicationId }, this.#state, this.#says)
      : null;
    if (reply !== null) this.#evidence.push(...shownBy(reply, this.#number, this.#row.now));
    const state = this.#stateAfter(reply);
    const contractTurn = reply?.shows === 'contract' ? this.#number : this.#row.contractTurn;
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
      tellsApproval: state.approvalTurn === this.#number,
      tellsWithdrawal: reply !== null && this.#says.some(({ text }) => text === 'withdrawn'),
      reminds: this.#reminds && !isEnd(state.place) && !state.optedOut,
    };
  }

  #stateAfter(reply: TurnReply | null): State {
    const says = reply === null ? [] : this.#says;
    const state = approvalSaid(copySaid(this.#state, this.#number, says), this.#number, says);
    return reply === null || reply.shows === null ? state : { ...state, askedTurn: this.#number };
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
        return this.apply({ kind: 'answer', result: this.#noted(await checked, from) }, from);
      }
      case 'debts': {
        const known = await this.#debtsOf(effect.act, input, from);
        return known === null ? undefined : this.apply(known, from);
      }
      case 'look': {
        const result = await this.#questionRead(effect.isProven, from);
        return this.apply({ kind: 'question_read', result }, from);
      }
      case 'sign': {
        const signed = await this.#sign();
        const withdrawal = signed.withdrawal && {
          lastDay: dayText(signed.withdrawal.lastDay, this.#voice.locale),
          untilMs: signed.withdrawal.until.getTime(),
        };
        return this.apply({ kind: 'signature', result: this.#noted(signed, from), withdrawal }, from);
      }
      case 'withdraw': {
        const received = receivedOf(from?.content);
        // An earlier word of the person counts in the place of the operator's record.
        if (received !== null && this.#evidence.some(({ kind }) => kind === 'withdrawal_asked')) return;
        const sentAt = received === null ? (from?.row.at ?? null) : null;
        const about = [this.#session, this.#applicationId, sentAt, received] as const;
        const result = this.#noted(await this.#signing.withdraw(...about), from);
        if (result === 'withdrawn') this.#withdraws = { by: received?.by ?? null };
        return this.apply({ kind: 'withdrawal', result }, from);
      }
      case 'tell':
        this.#told.push(effect);
        return;
      case 'evidence':
        this.#evidence.push(
          actOf(effect.act, from?.row ?? null, {
            turn: this.#number,
            now: this.#row.now,
            contract: this.#state.acceptedContract,
            received: receivedOf(from?.content),
          }),
        );
        if (effect.act === 'contract_accepted') this.#acceptedInput = from?.row.id ?? null;
        return;
      case 'remind':
        this.#reminds = true;
    }
  }

  /** Stores, reads or forgets the list of debts; null: nothing follows from it. */
  #debtsOf(
    act: Extract<Effect, { kind: 'debts' }>['act'],
    input: Input,
    from: OpenedInput | null,
  ): Promise<DebtsInput | null> {
    const about = [this.#session, this.#applicationId, this.#voice.locale] as const;
    if (act === 'forget')
      return this.#signing.forgetDebts(this.#session, this.#applicationId).then(() => null);
    if (act === 'ask') return this.#signing.askDebts(...about);
    if (act === 'read') return this.#signing.readDebts(...about, from?.content.documentIndex ?? null);
    return this.#signing.tellDebts(...about, input.kind === 'text' ? input.body : '');
  }

  async #questionRead(isProven: boolean, from: OpenedInput | null): Promise<QuestionRead> {
    const { askedTurn } = this.#state;
    const reply = askedTurn === null ? null : await this.#toldAt(askedTurn);
    return questionRead(reply, isProven, from?.content.sentMs);
  }

  async #toldAt(turn: number): Promise<ToldReply | null> {
    return this.#row.told.get(turn) ?? toldReply(this.#session, this.#applicationId, turn);
  }

  #noted<Result>({ result, evidence }: Proven<Result>, from: OpenedInput | null): Result {
    for (const entry of evidence) this.#evidence.push(provenBy(entry, from?.row ?? null));
    return result;
  }

  async #sign(): Promise<
    Proven<'signed' | 'not_signable' | 'not_shown'> & Pick<ProvenSignature, 'withdrawal'>
  > {
    const { acceptedContract } = this.#state;
    const shownTurn = this.#row.contractTurn;
    if (acceptedContract === null || this.#acceptedInput === null || shownTurn === null)
      return { result: 'not_signable', evidence: [], withdrawal: null };
    if ((await this.#toldAt(shownTurn))?.fate !== 'taken')
      return { result: 'not_shown', evidence: [], withdrawal: null };
    return this.#signing.sign(this.#session, this.#applicationId, {
      contract: acceptedContract,
      acceptedInput: this.#acceptedInput,
      shownTurn,
    });
  }
}

/** The number of a day, in UTC. */
function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

function isAboutInput(work: NewWork['work']): boolean {
  return work === 'read_document' || work === 'answer_source';
}

/** A date (YYYY-MM-DD) as people write it. */
function dayText(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date));
}
