/**
 * Compares what an applicant answers to the two questions of the signature: the last four characters, and the code
 * (D46). Reads the application's person, and counts tries in `signing_codes`.
 */
import { timingSafeEqual } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { lastFourOf, readCode, readLastFour, type SigningQuestion } from '../../../domain/evidence/answer.ts';
import type { Proven } from '../../../domain/evidence/evidence.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { readForContract } from '../sql/application.ts';
import { beginRound, countWrong, latestRound, noteRight, type Round } from '../sql/codes.ts';
import { lockContract } from '../sql/contracts.ts';
import { codeMac } from './code-mac.ts';

/**
 * `expired`: the contract, the code or the proof before it is too old, so the person begins again with the last four
 * characters. `spent`: the tries, or the rounds of this hour, are used up. `unreadable`: the text is no such answer,
 * and does not count as a try.
 */
export type AnswerResult = 'right' | 'wrong' | 'expired' | 'spent' | 'unreadable';

/**
 * Compares an answer, in the transaction of the turn. The last four characters of the ID number come first; a code
 * counts only after them. A wrong answer to either counts as a try of the round. Throws `UnknownDataKeyError` if this
 * process lacks the data key of the application.
 */
export async function checkAnswer(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  question: SigningQuestion,
  text: string,
): Promise<Proven<AnswerResult>> {
  const answer = question === 'code' ? readCode(text) : readLastFour(text);
  if (answer === null) return nothingOf('unreadable');
  // Everything is read before anything is written: docs/scale.md says why.
  const application = question === 'last_four' ? await readForContract(session, vault, id) : null;
  if (question === 'last_four' && application === null) return nothingOf('expired');
  const lastFour = lastFourOf(application?.person.idNumber ?? '');
  // If the ID number ends with digits, a word such as "hola" is no try.
  if (question === 'last_four' && /\d/.test(lastFour) && !/\d/.test(answer)) {
    return nothingOf('unreadable');
  }
  await lockState(session, id);
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'open' || contract.isExpired) return nothingOf('expired');
  const round = await roundOf(session, id, contract.id, question);
  if (typeof round === 'string') return nothingOf(round);
  const right =
    question === 'code'
      ? isSame(round.codeMac as Buffer, codeMac(vault, id, contract.id, answer))
      : isSame(codeMac(vault, id, contract.id, lastFour), codeMac(vault, id, contract.id, answer));
  const what = question === 'code' ? 'code' : 'id';
  const isLast = right ? false : await countWrong(session, round.id);
  if (right) await noteRight(session, round.id, what);
  const facts = { round: round.id, result: right ? 'right' : 'wrong', ...(round.way && { way: round.way }) };
  const kind = what === 'code' ? 'code_checked' : 'id_checked';
  return { result: right ? 'right' : isLast ? 'spent' : 'wrong', evidence: [{ kind, at: null, facts }] };
}

/** An answer that was compared with nothing. */
function nothingOf(result: AnswerResult): Proven<AnswerResult> {
  return { result, evidence: [] };
}

/** The round that a try counts in. */
async function roundOf(
  session: Transaction,
  id: ApplicationId,
  contractId: string,
  question: SigningQuestion,
): Promise<Round | 'expired' | 'spent'> {
  const found = await latestRound(session, id, contractId);
  if (question === 'code') {
    if (found === null) return 'expired';
    if (found.state !== 'live') return found.state;
    return found.codeMac === null || found.idCheckedAt === null ? 'expired' : found;
  }
  if (found?.state === 'live') return found;
  return (await beginRound(session, id, contractId, null)) ?? 'spent';
}

/** Compares two MACs in constant time. */
function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
