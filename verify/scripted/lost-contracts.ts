/** Contracts that were accepted, and did not reach the person for certain: these are shown and accepted again. */
import type { Stored } from './seen.ts';

const TAKEN = ['accepted', 'sent', 'delivered', 'read'];

/** How often a contract was shown by a reply of which the channel never said that it took it, or that failed later. */
export function lostContracts({ evidence, replies }: Stored, applicationId: number): number {
  const turns = (evidence.get(applicationId) ?? []).flatMap(({ kind, facts }) =>
    kind === 'contract_shown' ? [facts.turn] : [],
  );
  const own = replies.filter((reply) => reply.applicationId === applicationId);
  return turns.filter((turn) => own.some((one) => one.turn === turn && !TAKEN.includes(one.status))).length;
}
