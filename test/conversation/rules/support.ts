/** A model of what stands around the reducer: performs its effects with results that a test chooses. */
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import type { Effect } from '../../../src/domain/conversation/effect.ts';
import type { Flow } from '../../../src/domain/conversation/flow.ts';
import type { Input, ProofInput } from '../../../src/domain/conversation/input.ts';
import { newState, type State } from '../../../src/domain/conversation/state.ts';
import type { WithdrawalResult } from '../../../src/domain/loan/withdrawal.ts';
import { next } from '../../../src/subjects/conversation/rules/next.ts';

/** The results of what is proven in the transaction of a turn. */
export interface World {
  readonly answer: (question: 'last_four' | 'code') => Extract<ProofInput, { kind: 'answer' }>['result'];
  readonly signature: () => 'signed' | 'not_signable';
  readonly withdrawal: () => WithdrawalResult;
  /** Whether the question that is accepted can have been read; absent: it can. */
  readonly questionRead?: (isProven: boolean) => 'can' | 'cannot';
}

export const GOOD: World = {
  answer: () => 'right',
  signature: () => 'signed',
  withdrawal: () => 'withdrawn',
};

export interface Stepped {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** One input, and the proofs that follow from it in the same transaction. */
export function stepped(flow: Flow, state: State, input: Input, world: World = GOOD): Stepped {
  const first = next(flow, state, input);
  const effects = [...first.effects];
  let now = first.state;
  for (const effect of first.effects) {
    const proof = proofOf(effect, world);
    if (proof === null) continue;
    const after = stepped(flow, now, proof, world);
    now = after.state;
    effects.push(...after.effects);
  }
  return { state: now, effects };
}

function proofOf(effect: Effect, world: World): ProofInput | null {
  switch (effect.kind) {
    case 'check':
      return { kind: 'answer', result: world.answer(effect.question) };
    case 'look':
      return { kind: 'question_read', result: world.questionRead?.(effect.isProven) ?? 'can' };
    case 'sign':
      return { kind: 'signature', result: world.signature(), withdrawal: null };
    case 'withdraw':
      return { kind: 'withdrawal', result: world.withdrawal() };
    default:
      return null;
  }
}

/** The state and all effects after these inputs. */
export function run(inputs: readonly Input[], flow: Flow = DEFAULT_FLOW, world: World = GOOD): Stepped {
  let state = newState('pending_signature');
  const effects: Effect[] = [];
  for (const input of inputs) {
    const after = stepped(flow, state, input, world);
    state = after.state;
    effects.push(...after.effects);
  }
  return { state, effects };
}

export const SHA = 'a'.repeat(64);
export const OFFER = {
  ...{
    amount: '$ 8.000.000',
    net: '$ 7.900.000',
    creditors: '$ 7.500.000',
    toApplicant: '$ 400.000',
    installment: '$ 400.000',
  },
  ...{ months: '24', total: '$ 9.600.000' },
  ...{
    interestRate: '16,00 %',
    interestRateName: 'Tasa de interés',
    firstDue: '1 de enero',
    validUntil: '2 de enero',
    fees: '$ 200.000',
    taxes: '$ 0',
    lateRate: '1,8 % al mes',
    disbursement: '1 de diciembre',
    withdrawal: '5 días hábiles',
  },
  ...{ rate: '18,00 %', rateName: 'Tasa efectiva anual', lender: 'Prestamista S.A.', costs: 'costs' },
};

export const OUTLOOK: Input = {
  kind: 'outlook',
  outlook: { isPossible: true, amount: '$ 8.000.000', months: '24', installment: '$ 400.000' },
};

export const contract = (sha256: string, costs = OFFER.costs): Input => ({
  kind: 'contract',
  contract: { sha256, mediaId: 'm', filename: 'c.pdf', costs },
});
export const text = (body: string): Input => ({ kind: 'text', body });
export const file: Input = { kind: 'file', media: 'document' };
export const read: Input = { kind: 'document', purpose: 'earnings', fate: 'accepted' };

/** The inputs up to a place, on the way where all goes well. */
export function wayTo(
  place: 'data_consent' | 'earnings' | 'debts' | 'checking' | 'summary' | 'contract' | 'code' | 'signed',
) {
  const way: [string, Input[]][] = [
    ['data_consent', [{ kind: 'begin', canSay: true }]],
    ['earnings', [text('sí'), OUTLOOK]],
    ['debts', [file, read, text('es todo')]],
    ['checking', [text('omitir')]],
    [
      'summary',
      [
        { kind: 'income', outcome: 'confirmed' },
        { kind: 'offer', offer: OFFER },
      ],
    ],
    ['contract', [text('sí'), contract(SHA)]],
    ['code', [text('acepto')]],
    ['signed', [text('1234'), { kind: 'code', result: 'sent', way: 'SMS', minutes: 10 }, text('123456')]],
  ];
  const end = way.findIndex(([name]) => name === place);
  return way.slice(0, end + 1).flatMap(([, inputs]) => inputs);
}

/** The texts that were said. */
export function said({ effects }: Stepped): string[] {
  return effects.flatMap((effect) => (effect.kind === 'say' ? [effect.text] : []));
}
