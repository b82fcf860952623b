/**
 * What a conversation does when work ends (a file read, an income checked, an offer, contract or code made) or a proof
 * comes back, and when it goes on by itself (D43, D44, D45). Pure.
 */
import { ask, type Effect, say } from '../../../domain/conversation/effect.ts';
import type { Flow } from '../../../domain/conversation/flow.ts';
import type {
  DocumentRefusal,
  Outlook,
  OutlookReason,
  ProofInput,
  QuestionRead,
  WorkInput,
} from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import {
  at,
  NONE_REJECTED,
  type Purpose,
  type State,
  UNDERSTOOD,
} from '../../../domain/conversation/state.ts';
import { goOn, handOverTelling, moved, type Next, none, tellAgain } from './moves.ts';
import { answerChecked, codeSent, signed, withdrawn } from './proofs.ts';
import { askAgain, askOpen, inWords } from './questions.ts';
import { copyMade, scheduleMade } from './signed-copy.ts';
import { sourceAsks, waitsForStep } from './source-steps.ts';

/** The next state after work or a proof has ended. `nothing`: only looks whether the conversation can go on. */
export function resultOf(
  flow: Flow,
  state: State,
  input: WorkInput | ProofInput | { readonly kind: 'nothing' },
): Next {
  switch (input.kind) {
    case 'nothing':
      return goOnAlone(flow, state);
    case 'document':
      return documentRead(flow, state, input);
    case 'income':
      return incomeChecked(flow, state, input.outcome);
    case 'source_step':
      return sourceAsks(state, input);
    case 'outlook':
      return outlookKnown(flow, state, input.outlook);
    case 'offer':
      return offerMade(state, input);
    case 'contract':
      return contractMade(state, input);
    case 'signed_contract':
      return copyMade(state, input);
    case 'schedule':
      return scheduleMade(state, input);
    case 'code':
      return codeSent(state, input);
    case 'work_failed':
      return hasEnded(state) ? none(state) : handOverTelling(state, 'failure');
    case 'answer':
      return answerChecked(state, input.result);
    case 'question_read':
      return questionRead(state, input.result);
    case 'signature':
      return signed(state, input);
    case 'withdrawal':
      return withdrawn(state, input.result);
  }
}

function questionRead(state: State, result: QuestionRead): Next {
  switch (result) {
    case 'can':
      return accepted(state);
    case 'cannot':
      return tellAgain(state);
    // The person may have read the question, so silence would leave the answer without a reply.
    case 'may':
      return moved(state, ...askAgain(state));
    case 'coming':
      return none(state);
  }
}

/** Takes the acceptance at this step: the person can have read the question. */
function accepted(before: State): Next {
  const state = { ...before, ...UNDERSTOOD };
  switch (state.place) {
    case 'data_consent': {
      const asked: State = { ...state, outlook: 'asked' };
      return moved(asked, { kind: 'evidence', act: 'data_consent_given' }, ...askOpen(asked));
    }
    case 'summary':
      return goOn(state, 'contract', { kind: 'evidence', act: 'offer_accepted' });
    case 'contract':
      return goOn({ ...state, acceptedContract: state.shownContract, proof: 'none' }, 'code', {
        kind: 'evidence',
        act: 'contract_accepted',
      });
    default:
      return none(before);
  }
}

/** Leaves a step for files. If no file can be used, its question comes again. */
export function leaveFiles(flow: Flow, state: State): Next {
  const purpose: Purpose = state.place === 'debts' ? 'debts' : 'earnings';
  if (purpose === 'debts' && state.debtList !== 'confirmed' && state.usable.debts > 0)
    return moved({ ...state, complete: false }, { kind: 'debts', act: 'ask' });
  if (state.usable[purpose] === 0 && !(purpose === 'debts' && state.debtList === 'confirmed')) {
    const again = { ...state, complete: false };
    return moved(again, say('files_needed'), ...askOpen(again));
  }
  return passOn(flow, state, purpose);
}

/** Goes on after a step for files: to the next one, or to the check of the income. */
export function passOn(flow: Flow, before: State, left: Purpose, ...effects: readonly Effect[]): Next {
  const state = { ...before, rejected: NONE_REJECTED };
  if (left === 'earnings' && flow.steps.debts && state.debtList !== 'confirmed')
    return goOn(state, 'debts', ...effects);
  if (!flow.steps.earnings) {
    const there = at(state, 'checking');
    const on = goOnAlone(flow, there);
    return moved(on.state, ...effects, ...(on.effects.length > 0 ? on.effects : askOpen(there)));
  }
  const hasFiles = state.usable.earnings + state.usable.debts > 0;
  return goOn(
    { ...state, income: 'asked', sourceSteps: 0 },
    'checking',
    ...effects,
    ...(hasFiles ? [{ kind: 'tell', event: 'documents.received' } as const] : []),
    { kind: 'work', work: 'check_income' },
  );
}

/** Goes on by itself if the service waits for nothing any more. */
export function goOnAlone(flow: Flow, state: State): Next {
  if (state.heldBy === 'operator') return none(state);
  const { place, complete, reading, income, status } = state;
  if ((place === 'earnings' || place === 'debts') && complete && reading === 0)
    return leaveFiles(flow, state);
  const isChecked = income === 'confirmed' || income === 'adjusted' || !flow.steps.earnings;
  if (place === 'checking' && isChecked && status === 'pending_signature') return goOn(state, 'summary');
  return none(state);
}

const REFUSAL_TEXTS = {
  gone: 'file_gone',
  too_large: 'file_too_large',
  wrong_type: 'file_wrong_type',
  locked: 'file_locked',
  infected: 'file_infected',
  unreadable: 'file_unreadable',
  too_many: 'too_many_files',
} as const satisfies Readonly<Record<DocumentRefusal, string>>;

function toldOf(fate: Extract<WorkInput, { kind: 'document' }>['fate']): Effect[] {
  if (typeof fate === 'object') return [say(REFUSAL_TEXTS[fate.refused])];
  if (fate === 'by_person') return [say('file_by_person')];
  return fate === 'other_person' ? [say('file_other_person')] : [];
}

function documentRead(flow: Flow, before: State, input: Extract<WorkInput, { kind: 'document' }>): Next {
  const { purpose, fate } = input;
  const isUsable = typeof fate === 'string';
  const state: State = {
    ...before,
    reading: Math.max(0, before.reading - 1),
    usable: { ...before.usable, [purpose]: before.usable[purpose] + (isUsable ? 1 : 0) },
    // A file that was refused makes room for another one.
    files: { ...before.files, [purpose]: Math.max(0, before.files[purpose] - (isUsable ? 0 : 1)) },
    refused: before.refused + (isUsable || before.place !== purpose ? 0 : 1),
  };
  if (hasEnded(state)) return none(state);
  const told = toldOf(fate);
  if (state.refused >= flow.limits.files && state.heldBy === 'service') {
    const held = handOverTelling(state, 'documents');
    return moved(held.state, ...told, ...held.effects);
  }
  // An accepted statement may tell debts (D52).
  if (purpose === 'debts' && fate === 'accepted' && state.place === 'debts')
    return moved(state, { kind: 'debts', act: 'read' });
  const on = goOnAlone(flow, state);
  if (on.effects.length > 0) return moved(on.state, ...told, ...on.effects);
  const isAsked = state.place === purpose && state.reading === 0 && told.length > 0;
  return moved(state, ...told, ...(isAsked ? askOpen(state) : []));
}

function incomeChecked(flow: Flow, before: State, outcome: 'confirmed' | 'adjusted' | 'operator'): Next {
  if (before.place !== 'checking' || (before.income !== 'asked' && !waitsForStep(before)))
    return none(before);
  const state: State = { ...before, income: outcome };
  const told: Effect = { kind: 'tell', event: 'income.verified', outcome };
  if (outcome === 'operator') {
    const held = handOverTelling(state, 'income');
    return moved(held.state, told, ...held.effects);
  }
  const on = goOnAlone(flow, state);
  return moved(on.state, told, ...(on.effects.length > 0 ? on.effects : askOpen(state)));
}

const OUTLOOK_TEXTS = {
  below_minimum: 'amount_too_small',
  above_limit: 'amount_too_large',
  wrong_currency: 'other_currency',
  short_id_number: 'id_number_short',
} as const satisfies Readonly<Record<OutlookReason, string>>;

/**
 * It is known whether an offer is possible (D45). If none is, the person hears why, an operator helps, and no document
 * is asked for.
 */
function outlookKnown(flow: Flow, before: State, outlook: Outlook): Next {
  // If an operator speaks, it is found out again when the conversation is given back.
  if (before.place !== 'data_consent' || before.outlook !== 'asked' || before.heldBy === 'operator')
    return none(before);
  if (!outlook.isPossible) {
    const { reason, limit } = outlook;
    const held = handOverTelling(before, 'no_offer');
    const why = reason === null ? [] : [say(OUTLOOK_TEXTS[reason], { limit })];
    return moved(held.state, ...why, ...held.effects);
  }
  const { amount, months, installment } = outlook;
  const told = say('outlook', { amount, months, installment });
  const state: State = { ...before, outlook: 'told' };
  return flow.steps.earnings ? goOn(state, 'earnings', told) : passOn(flow, state, 'earnings', told);
}

/** The offer is made. It may have other costs than an earlier one, so the buttons under that one become old. */
function offerMade(state: State, { offer, why }: Extract<WorkInput, { kind: 'offer' }>): Next {
  // If an operator speaks, the offer is made again when the conversation is given back.
  if (state.place !== 'summary' || state.heldBy === 'operator') return none(state);
  if (offer === null) return handOverTelling(state, why ?? 'no_offer');
  const { toApplicant, interestRate, interestRateName, rateName, lateRate, firstDue, validUntil, ...rest } =
    offer;
  const { costs, ...same } = rest;
  const values = {
    ...same,
    to_applicant: toApplicant,
    interest_rate: interestRate,
    interest_rate_name: interestRateName,
    rate_name: rateName,
    late_rate: lateRate,
    first_due: firstDue,
    valid_until: validUntil,
  };
  return moved(
    { ...state, nonce: state.nonce + 1, offerShown: true, shownCosts: costs, askedTurn: null, unsaid: false },
    ask('summary', ['go_on', 'decline'], values),
  );
}

/**
 * The contract is made. If it is not the one that was shown, the buttons under that one become old. If the terms have
 * changed since the person read the offer, the new offer comes first (D45).
 */
function contractMade(state: State, { contract: made, why }: Extract<WorkInput, { kind: 'contract' }>): Next {
  // As for the offer.
  if (state.place !== 'contract' || state.heldBy === 'operator') return none(state);
  if (made === null) return handOverTelling(state, why ?? 'no_contract');
  const { costs, ...contract } = made;
  if (costs !== state.shownCosts)
    return goOn(state, 'summary', ...(state.shownCosts === null ? [] : [say('costs_changed')]));
  const nonce = state.shownContract === contract.sha256 ? state.nonce : state.nonce + 1;
  return moved(
    { ...state, nonce, shownContract: contract.sha256, askedTurn: null, unsaid: false },
    { ...ask('contract', ['accept', 'decline'], { hash: inWords(contract.sha256) }), document: contract },
  );
}

function hasEnded({ place }: State): boolean {
  return isEnd(place);
}
