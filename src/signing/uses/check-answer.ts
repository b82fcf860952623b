/** Compares what an applicant answers to the questions of the signature (D46). */
import { timingSafeEqual } from 'node:crypto';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import type { Transaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { lastFourOf, readCode, readLastFour, type SigningQuestion } from '../rules/answer.ts';
import { readForContract } from '../sql/application.ts';
import { beginRound, countWrong, latestRound, noteRight, type Round } from '../sql/codes.ts';
import { lockContract } from '../sql/contracts.ts';
import { addEvidence } from '../sql/evidence.ts';
import { codeMac } from './send-code.ts';

/**
 * `expired`: the contract or the code is too old: send another code. `spent`: the tries, or the rounds of this hour,
 * are used up. `unreadable`: the text is no such answer, and does not count as a try.
 */
export type AnswerResult = 'right' | 'wrong' | 'expired' | 'spent' | 'unreadable';

/**
 * Compares an answer, in the transaction of the turn. The last four characters of the ID number are asked first; a
 * code counts only after them. A wrong answer to either counts as a try of the round. Throws `UnknownDataKeyError`
 * where this process lacks the data key of the application.
 */
export async function checkAnswer(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  question: SigningQuestion,
  text: string,
): Promise<AnswerResult> {
  const answer = question === 'code' ? readCode(text) : readLastFour(text);
  if (answer === null) return 'unreadable';
  // Reads before anything is written: docs/scale.md says why.
  const application = question === 'last_four' ? await readForContract(session, vault, id) : null;
  if (question === 'last_four' && application === null) return 'expired';
  const lastFour = lastFourOf(application?.person.idNumber ?? '');
  // A word such as "hola" is no try, where the ID number ends with digits.
  if (question === 'last_four' && /\d/.test(lastFour) && !/\d/.test(answer)) return 'unreadable';
  await lockState(session, id);
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'open' || contract.isExpired) return 'expired';
  const round = await roundOf(session, id, contract.id, question);
  if (typeof round === 'string') return round;
  const right =
    question === 'code'
      ? isSame(round.codeMac as Buffer, codeMac(vault, id, contract.id, answer))
      : isSame(codeMac(vault, id, contract.id, lastFour), codeMac(vault, id, contract.id, answer));
  const what = question === 'code' ? 'code' : 'id';
  const isLast = right ? false : await countWrong(session, round.id);
  if (right) await noteRight(session, round.id, what);
  const facts = { round: round.id, result: right ? 'right' : 'wrong', ...(round.way && { way: round.way }) };
  await addEvidence(session, vault, [
    {
      applicationId: id,
      entries: [{ kind: what === 'code' ? 'code_checked' : 'id_checked', at: null, facts }],
    },
  ]);
  if (right) return 'right';
  return isLast ? 'spent' : 'wrong';
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
    if (found === 'none') return 'expired';
    if (typeof found === 'string') return found;
    return found.codeMac === null || !found.isIdChecked ? 'expired' : found;
  }
  if (typeof found === 'object') return found;
  return (await beginRound(session, id, contractId, false)) ?? 'spent';
}

/** Compares two MACs in constant time. */
function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
