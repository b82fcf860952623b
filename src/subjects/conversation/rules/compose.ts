/**
 * Makes the one reply of a turn out of everything that its inputs wanted to say (D43; docs/conversation.md, "Inputs,
 * turns and replies"). Pure.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { SayEffect } from '../../../domain/conversation/effect.ts';
import {
  type Flow,
  type Language,
  MAX_REPLY_LENGTH,
  type TextKey,
  type Value,
  type Values,
} from '../../../domain/conversation/flow.ts';
import type { ShownContract, Under } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import type { State } from '../../../domain/conversation/state.ts';
import { stopPayload } from '../../../domain/message/outgoing-message.ts';
import { formatPayload } from './payload.ts';

/** The questions whose texts go into the evidence of a signature (D46). */
const PROVEN_QUESTIONS = ['consent', 'summary', 'contract'] as const;
export type ProvenQuestion = (typeof PROVEN_QUESTIONS)[number];

/** What the buttons stand under, if that is not the whole question. */
const UNDER_TEXT: Partial<Readonly<Record<TextKey, Under>>> = {
  summary_again: 'short',
  contract_again: 'short',
  offer_person: 'help',
  stop_or_go_on: 'help',
};

/** Texts that are no longer true if a later input of the same turn ends the conversation: nobody will write. */
const HAND_OVER_TEXTS: readonly TextKey[] = [
  'handed_over',
  'person_will_write',
  'withdraw_too_late',
  'withdrawal_word',
];

/** What a reply says. */
export interface TurnReply {
  /** Which proven question the reply asks; null: none. */
  readonly shows: ProvenQuestion | null;
  readonly text: string;
  readonly buttons: readonly { readonly title: string; readonly payload: string }[];
  readonly document: ShownContract | null;
}

interface Speaker {
  readonly flow: Flow;
  readonly language: Language;
  /** The partner's name for applicants. */
  readonly partner: string;
  /** What the question for the consent tells about the lender; absent where it is not asked. */
  readonly consent?: Values;
  readonly applicationId: ApplicationId;
}

/**
 * The one reply of a turn: every sentence once, then the last question with its buttons; null: the turn says nothing.
 * `state` is the state after the turn, and the buttons belong to its question.
 */
export function composeReply(speaker: Speaker, state: State, says: readonly SayEffect[]): TurnReply | null {
  const isEnded = isEnd(state.place) && state.heldBy === 'service';
  const question = questionOf(state, says);
  const kept = says.filter((one) =>
    one.isQuestion ? one === question : !(isEnded && HAND_OVER_TEXTS.includes(one.text)),
  );
  // A sentence that comes several times is said once, at its last place.
  const parts = kept.filter((one, index) => kept.findLastIndex(({ text }) => text === one.text) === index);
  if (parts.length === 0) return null;
  const ordered = question === null ? parts : [...parts.filter((one) => one !== question), question];
  const texts = ordered.map((one) => textOf(speaker, one, countOf(says, one)));
  const hint = question === null ? null : textOf(speaker, { text: 'person_hint', values: {} }, 1);
  const text = withinLimit(texts, hint);
  return {
    shows: PROVEN_QUESTIONS.find((one) => one === question?.text) ?? null,
    // A text with a link has no buttons, so it may be longer.
    text: question?.link ? `${text}\n\n${question.link}` : text,
    buttons: question === null ? [] : buttonsOf(speaker, state, question),
    document: ordered.findLast(({ document }) => document !== null)?.document ?? null,
  };
}

/**
 * The question of the reply. After the end, or if an operator speaks from now on, nothing is asked, even if this turn
 * asked something before. Only whether the person wants no more messages is asked after the end too.
 */
function questionOf({ place, heldBy }: State, says: readonly SayEffect[]): SayEffect | null {
  const last = says.findLast(({ isQuestion }) => isQuestion) ?? null;
  if (heldBy === 'operator' || (isEnd(place) && last?.text !== 'stop_or_go_on')) return null;
  return last;
}

function buttonsOf(
  { flow, language, applicationId }: Speaker,
  { place, nonce }: State,
  { text, choices }: SayEffect,
): TurnReply['buttons'] {
  const under = UNDER_TEXT[text] ?? 'question';
  const offered = choices.filter((choice) => choice !== 'connect' || flow.steps.connect);
  return offered.map((choice) => ({
    title: flow.buttons[language][choice],
    payload:
      choice === 'stop'
        ? stopPayload(applicationId)
        : formatPayload({ applicationId, place, nonce, choice, under }),
  }));
}

function countOf(says: readonly SayEffect[], one: SayEffect): number {
  return says.filter(({ text }) => text === one.text).length;
}

function textOf(
  { flow, language, partner, consent }: Speaker,
  { text, values }: Pick<SayEffect, 'text' | 'values'>,
  count: number,
): string {
  return fillText(flow.texts[language][text], {
    ...(text === 'consent' && consent),
    ...values,
    partner,
    count: `${count}`,
  });
}

/** A text with its placeholders replaced by values. */
export function fillText(text: string, values: Values): string {
  return text.replace(/\{([a-z_]+)\}/g, (_, name: Value) => values[name] ?? '');
}

/**
 * The sentences as paragraphs, the question last, and the hint below it. If they are too long, the first sentences are
 * left out, and then the hint. The question stays, because its buttons prove that it was shown.
 */
function withinLimit(texts: readonly string[], hint: string | null): string {
  for (const under of hint === null ? [[]] : [[hint], []]) {
    for (let from = 0; from < texts.length; from += 1) {
      const text = [...texts.slice(from), ...under].join('\n\n');
      if (text.length <= MAX_REPLY_LENGTH) return text;
    }
  }
  return (texts.at(-1) ?? '').slice(0, MAX_REPLY_LENGTH);
}
