/**
 * Sends the one-time code for a signature, within its limits (D46; docs/signing.md, "The signature"). Writes
 * `signing_codes` and the evidence; the sender uses the network.
 */
import { randomInt } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { localDate } from '../../../domain/loan/local-day.ts';
import { countryOfPhone } from '../../../domain/phone/phone.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { channelIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { isSuppressed } from '../../messages/sql/suppressions.ts';
import type { CodeWay } from '../senders/code-sender.ts';
import { readForContract } from '../sql/application.ts';
import {
  beginRound,
  type CodeTarget,
  clearCode,
  codesUsedUp,
  latestRound,
  noteSent,
  setCode,
} from '../sql/codes.ts';
import { lockContract, type StoredContract } from '../sql/contracts.ts';
import { addEvidence } from '../sql/evidence.ts';
import { codeMac, phoneMac } from './code-mac.ts';
import type { SigningContext } from './context.ts';
import { rateFault } from './disburse.ts';

/**
 * `isAgain`: an earlier code is no longer good. `failed`: `reason` is a code of the way, or says what is missing.
 * `later`: the way did not take the code now. `no_proof`: the last four characters of the ID number come first.
 * `too_many`: the codes of the application, of its phone or of the country are used up.
 */
export type SentCode =
  | { readonly kind: 'sent'; readonly way: CodeWay; readonly endsAt: Date; readonly isAgain: boolean }
  | { readonly kind: 'failed' | 'later'; readonly reason: string }
  | { readonly kind: 'no_proof' | 'too_many' };

/**
 * Sends a new code for the shown contract, to a person who has proven the last four characters of the ID number. The
 * code before it is no longer good. Only a keyed hash of the code is stored, before the code goes out. If the work is
 * cut off in between, the person asks for another code. Throws `UnknownDataKeyError` if this process lacks the data key
 * of the application.
 */
export async function sendCode(
  context: SigningContext,
  id: ApplicationId,
  signal: AbortSignal = new AbortController().signal,
): Promise<SentCode> {
  const { database, vault, sender } = context;
  if (sender === null) return { kind: 'failed', reason: 'no_way' };
  const application = await readForContract(database, vault, id);
  const phone = application?.person.phone ?? null;
  if (application === null || phone === null) return { kind: 'failed', reason: 'no_phone' };
  const country = countryOfPhone(phone);
  // Numbers without a country (satellites, services) cost the most, and no country's terms hold for them.
  if (country === null) return { kind: 'failed', reason: 'no_country' };
  const code = `${randomInt(1_000_000)}`.padStart(6, '0');
  const target = { phoneMac: phoneMac(vault, phone), country };
  const phoneIndex = phoneIndexOf(vault, phone);
  const begun = await inTransaction(database, async (session) => {
    if (await isSuppressed(session, phoneIndex)) return { kind: 'failed', reason: 'suppressed' } as const;
    return begin(session, context, id, { ...target, code });
  });
  if ('kind' in begun) return begun;
  const { language, offer } = begun.contract.terms;
  const result = await sender.send({ phone, code, language, lender: offer.lender }, signal);
  await inTransaction(database, async (session) => {
    if (result.kind === 'sent') await noteSent(session, begun.roundId);
    if (result.kind === 'later') await clearCode(session, begun.roundId, begun.mac);
    const facts = {
      round: begun.roundId,
      way: sender.way,
      second_way: sender.way !== 'channel',
      result: result.kind === 'sent' ? 'sent' : wordOf(result.reason),
      message_index:
        result.kind === 'sent' && result.messageId !== null ? channelIndexOf(vault, result.messageId) : null,
    };
    await addEvidence(session, vault, [
      { applicationId: id, entries: [{ kind: 'code_sent', at: null, facts }] },
    ]);
  });
  if (result.kind !== 'sent') return result;
  return { kind: 'sent', way: sender.way, endsAt: begun.endsAt, isAgain: begun.isAgain };
}

interface Begun {
  readonly contract: StoredContract;
  readonly roundId: string;
  /** The keyed hash of the code. */
  readonly mac: Buffer;
  readonly endsAt: Date;
  /** A code was made for the contract before. */
  readonly isAgain: boolean;
}

/** Stores a code in a round, within every limit, if the application still waits for its signature. */
async function begin(
  session: Transaction,
  { vault, log, sender, terms, codesAnHour }: SigningContext,
  id: ApplicationId,
  { code, ...target }: CodeTarget & { readonly code: string },
): Promise<Begun | SentCode> {
  const state = await lockState(session, id);
  if (state?.status !== 'pending_signature') return { kind: 'failed', reason: 'not_signable' };
  if (state.isWrongPerson) return { kind: 'failed', reason: 'wrong_person' };
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'open' || contract.isExpired) {
    return { kind: 'failed', reason: 'no_contract' };
  }
  // The maximum may have fallen since the contract was made (D45).
  const fault = rateFault(terms, contract.terms, localDate(contract.now, contract.terms.zone));
  if (fault === 'above_maximum' || fault === 'no_maximum') {
    log.warn({ application_id: id, reason: fault }, 'ALARM: the rate of a contract is not allowed today');
    return { kind: 'failed', reason: fault };
  }
  const found = await latestRound(session, id, contract.id);
  if (found === null || found.state === 'spent' || found.idCheckedAt === null) return { kind: 'no_proof' };
  const usedUp = await codesUsedUp(session, target, codesAnHour);
  if (usedUp !== null) {
    const facts = { application_id: id, ...(usedUp === 'country' && { country: target.country }) };
    if (usedUp === 'phone') log.warn(facts, 'a phone has had its codes of 24 hours');
    else
      log.warn(
        facts,
        'ALARM: a country has had its codes of this hour (CODES_AN_HOUR), and nobody there signs',
      );
    return { kind: 'too_many' };
  }
  // A round without a code takes this code. Wrong answers of the round still count.
  const isReused = found.state === 'live' && found.codeMac === null;
  const round = isReused ? found : await beginRound(session, id, contract.id, found.idCheckedAt);
  if (round === null) return { kind: 'too_many' };
  const mac = codeMac(vault, id, contract.id, code);
  const endsAt = await setCode(session, round.id, { codeMac: mac, way: sender?.way ?? 'sms', target });
  return { contract, roundId: round.id, mac, endsAt, isAgain: found.codeMac !== null };
}

/** A reason as evidence may hold it. */
function wordOf(reason: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(reason) ? reason : 'failed';
}
