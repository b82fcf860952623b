/**
 * What a conversation does with the acts of operators: hand over, give back, close (docs/conversation.md, "What an
 * operator does"). Pure.
 */
import { say } from '../../../domain/conversation/effect.ts';
import type { Flow } from '../../../domain/conversation/flow.ts';
import type { OperatorInput } from '../../../domain/conversation/input.ts';
import { type ConversationPlace, isEnd, STEPS, type Step } from '../../../domain/conversation/places.ts';
import { type State, UNDERSTOOD } from '../../../domain/conversation/state.ts';
import { endAt, goOn, handOver, moved, type Next, none, tellOpen } from './moves.ts';
import { resultOf } from './results.ts';
import { waitsForStep } from './source-steps.ts';

/** The next state after an act, which changes who speaks or ends the conversation. */
export function operatorActs(flow: Flow, state: State, { act, step }: OperatorInput): Next {
  switch (act) {
    case 'hand_over':
      return state.heldBy === 'operator' ? none(state) : handOver(state, 'operator');
    case 'close':
      return isEnd(state.place) ? none(state) : endAt(state, 'closed', say('closed'));
    case 'give_back':
      return state.heldBy === 'service' ? none(state) : givenBack(flow, state, step);
  }
}

/**
 * The steps to which an operator can give a conversation back: the one where it stands, and the earlier ones of its
 * flow after the consent. After the end there are none.
 */
export function stepsBack({ steps }: Flow, place: ConversationPlace): Step[] {
  if (isEnd(place)) return [];
  const isOfFlow = (step: Step) => steps[step === 'debts' ? 'debts' : 'earnings'];
  return [
    ...FILES_AND_CHECK.filter((step) => isBefore(step, place) && isOfFlow(step)),
    ...OFFER_STEPS.filter((step) => isBefore(step, place)),
    place,
  ];
}

const FILES_AND_CHECK = ['earnings', 'debts', 'checking'] as const satisfies readonly Step[];
const OFFER_STEPS = ['summary', 'contract'] as const satisfies readonly Step[];

function isBefore(step: Step, place: Step): boolean {
  return STEPS.indexOf(step) < STEPS.indexOf(place);
}

/** Gives the conversation back: the open question is asked again, and what waited for an operator is tried again. */
function givenBack(flow: Flow, held: State, step: Step | undefined): Next {
  const service = { heldBy: 'service', handedOver: null, wrongPerson: false } as const;
  // For a wrong person no file is read (`uses/work.ts`), so no reading is waited for any more.
  const unread = held.wrongPerson ? { reading: 0, files: held.usable } : {};
  const state: State = { ...held, ...service, ...unread, refused: 0, ...UNDERSTOOD };
  if (isEnd(state.place)) return none(state);
  if (step !== undefined && step !== state.place && stepsBack(flow, state.place).includes(step))
    return backAt(state, step);
  if (lacksFiles(flow, state))
    return goOn({ ...state, income: null, sourceSteps: 0 }, 'earnings', say('given_back'));
  if (state.place === 'checking' && isUnchecked(flow, state)) {
    const again = { ...state, income: 'asked', sourceSteps: 0 } as const;
    return moved(again, say('given_back'), say('checking'), { kind: 'work', work: 'check_income' });
  }
  if (state.place === 'started') return goOn(state, 'data_consent', say('given_back'));
  // The row was damaged, so it is not known which contract was accepted.
  if (state.place === 'code' && state.acceptedContract === null) {
    return goOn(state, 'contract', say('given_back'));
  }
  // A new code is needed, and comes after the last four characters.
  const asking: State = state.place === 'code' ? { ...state, proof: 'none' } : state;
  const on = resultOf(flow, asking, { kind: 'nothing' });
  return on.effects.length > 0
    ? moved(on.state, say('given_back'), ...on.effects)
    : tellOpen(asking, say('given_back'));
}

/** Asks an earlier question again. What followed it counts no more: it is asked and made anew. */
function backAt(before: State, step: Step): Next {
  const state: State = { ...before, acceptedContract: null, proof: 'none' };
  const told = say('given_back');
  switch (step) {
    case 'earnings':
      return goOn({ ...state, income: null, sourceSteps: 0 }, step, told);
    case 'debts':
      return goOn({ ...state, debtList: 'none' }, step, told);
    case 'checking':
      return goOn({ ...state, income: 'asked', sourceSteps: 0 }, step, told, {
        kind: 'work',
        work: 'check_income',
      });
    default:
      return goOn(state, step, told);
  }
}

/** Whether the income still has to be checked, also because a row was damaged. */
function isUnchecked({ steps }: Flow, state: State): boolean {
  const { income } = state;
  return (
    income === 'operator' || income === 'asked' || waitsForStep(state) || (income === null && steps.earnings)
  );
}

/** Whether to ask for statements once more, because an operator rejected all of them. */
function lacksFiles({ steps }: Flow, { place, usable, rejected }: State): boolean {
  const isLater = place === 'debts' || place === 'checking';
  return isLater && steps.earnings && usable.earnings === 0 && rejected.earnings.length > 0;
}
