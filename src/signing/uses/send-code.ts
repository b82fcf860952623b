/** Sends the one-time code for a signature (D46). */
import { createHmac, randomInt } from 'node:crypto';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { inTransaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { CodeWay } from '../senders/code-sender.ts';
import { readForContract } from '../sql/application.ts';
import { beginRound, latestRound, noteSent, setCode } from '../sql/codes.ts';
import { lockContract } from '../sql/contracts.ts';
import { addEvidence } from '../sql/evidence.ts';
import type { SigningContext } from './context.ts';

/** `failed`: `reason` is a code of the way, or says what is missing. `too_many`: the codes of this hour are used up. */
export type SentCode =
  | { readonly kind: 'sent'; readonly way: CodeWay; readonly endsAt: Date }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'too_many' };

const LABEL = 'ventanilla signing codes';

/** The keyed hash of a code: another application or another contract has another one. */
export function codeMac(vault: Vault, id: ApplicationId, contractId: string, code: string): Buffer {
  const key = vault.derivedKeys(LABEL).at(-1);
  if (key === undefined) throw new Error('no key');
  return createHmac('sha256', key)
    .update(JSON.stringify([id, contractId, code]))
    .digest();
}

/**
 * Sends a new code for the contract that is shown. The code before it is worth nothing from then on. The code is
 * stored as a keyed hash alone, before it goes out: where the work is cut off in between, the person asks for another
 * one. Throws `UnknownDataKeyError` where this process lacks the data key of the application.
 */
export async function sendCode(
  { database, vault, sender }: SigningContext,
  id: ApplicationId,
  signal: AbortSignal = new AbortController().signal,
): Promise<SentCode> {
  if (sender === null) return { kind: 'failed', reason: 'no_way' };
  const application = await readForContract(database, vault, id);
  const phone = application?.person.phone ?? null;
  if (application === null || phone === null) return { kind: 'failed', reason: 'no_phone' };
  const code = `${randomInt(1_000_000)}`.padStart(6, '0');
  const round = await inTransaction(database, async (session) => {
    const contract = await lockContract(session, id);
    if (contract === null || contract.state !== 'open' || contract.isExpired) return 'no_contract' as const;
    const found = await latestRound(session, id, contract.id);
    // A round without a code takes this one; its wrong answers still count.
    const reused = typeof found === 'object' && found.codeMac === null ? found : null;
    const isIdChecked = typeof found === 'object' && found.isIdChecked;
    const taken = reused ?? (await beginRound(session, id, contract.id, isIdChecked));
    if (taken === null) return 'too_many' as const;
    const endsAt = await setCode(session, taken.id, codeMac(vault, id, contract.id, code), sender.way);
    return { roundId: taken.id, endsAt, terms: contract.terms };
  });
  if (round === 'no_contract') return { kind: 'failed', reason: round };
  if (round === 'too_many') return { kind: 'too_many' };
  const { language, offer } = round.terms;
  const result = await sender.send({ phone, code, language, lender: offer.lender }, signal);
  await inTransaction(database, async (session) => {
    if (result.kind === 'sent') await noteSent(session, round.roundId);
    const facts = {
      round: round.roundId,
      way: sender.way,
      second_way: sender.way !== 'channel',
      result: result.kind === 'sent' ? 'sent' : wordOf(result.reason),
    };
    await addEvidence(session, vault, [
      { applicationId: id, entries: [{ kind: 'code_sent', at: null, facts }] },
    ]);
  });
  return result.kind === 'sent' ? { kind: 'sent', way: sender.way, endsAt: round.endsAt } : result;
}

/** A reason as evidence may hold it. */
function wordOf(reason: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(reason) ? reason : 'failed';
}
