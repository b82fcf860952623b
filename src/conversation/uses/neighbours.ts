/** The subjects below a conversation. Where one is not there yet, an operator does its part. */
import type { Vault } from '../../seal/vault.ts';
import type { Performer, Signing } from './ports.ts';

/** Documents, incomes, offers and codes. */
export function performerOf(): Performer {
  return {
    readDocument: async () => 'operator',
    checkIncome: async () => 'operator',
    offer: async () => null,
    makeContract: async () => null,
    sendCode: async () => ({ result: 'failed', way: '', minutes: 0 }),
  };
}

/** Answers, signatures and evidence. */
export function signingOf(_vault: Vault): Signing {
  return {
    checkAnswer: async () => 'spent',
    sign: async () => 'not_signable',
    withdraw: async () => 'not_signed',
    recordEvidence: async () => {},
  };
}
