/**
 * Makes the final schedule of a loan that is paid out: the installments of the contract with their days, as a sealed
 * PDF (D46; docs/signing.md, "The payment"). Writes `loan_contracts`, the evidence and the document store; the seal may
 * need the network for its time stamp.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { newFileKey } from '../../documents/store/document-store.ts';
import { sealWith } from '../../documents/store/sealed-file.ts';
import { contractPdf } from '../pdf/make.ts';
import { CONTRACT_WORDS } from '../rules/contract-words.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { claimFinish, noteFinish, readContract, type StoredContract } from '../sql/contracts.ts';
import { addEvidence } from '../sql/evidence.ts';
import { footOf, scheduleBlocks } from './contract-blocks.ts';
import { installmentsOf } from './due-installments.ts';
import type { FinishContext } from './finish-contract.ts';
import { headingOf, readPdf } from './make-contract.ts';

/** A final schedule. */
export interface FinalSchedule {
  readonly contract: StoredContract;
  readonly bytes: Buffer;
}

/**
 * The final schedule of an application; it is made if there is none yet. Any number of processes may ask at once.
 * `none`: there is nothing to make it of. `later`: another process makes it, or no certificate is set. Throws what the
 * database, the store and the authority of the time throw, and an `Error` if the certificate has expired.
 */
export async function finalSchedule(
  context: FinishContext,
  id: ApplicationId,
): Promise<FinalSchedule | 'none' | 'later'> {
  const { database, vault, store, sealer } = context;
  const contract = await readContract(database, id);
  const installments = contract?.state === 'signed' ? installmentsOf(contract) : null;
  if (contract === null || installments === null) return 'none';
  if (contract.scheduleSha256 !== null) return { contract, bytes: await readSchedule(context, contract) };
  if (sealer === null) return 'later';
  const at = await databaseTime(database);
  if (!sealer.isValidAt(at)) throw new Error('the certificate of SIGNING_CERTIFICATE_FILE is not valid now');
  const key = newFileKey('contract');
  const claimed = await claimFinish(database, 'schedule', contract.id, key);
  if (claimed === 'busy') return 'later';
  if (claimed.before !== null) await store.delete(claimed.before);
  const title = CONTRACT_WORDS[contract.terms.language].finalSchedule;
  const blocks = scheduleBlocks(contract, installments);
  const pdf = await contractPdf(
    headingOf(contract.terms, title, at),
    blocks,
    footOf(contract.id, contract.terms),
  );
  const bytes = await sealer.seal(pdf, { reason: title, at });
  const sha256 = hash('sha256', bytes, 'buffer');
  await store.put(key, sealWith(openSecret(vault, contract), bytes, key));
  const isNoted = await inTransaction(database, async (session) => {
    if (!(await noteFinish(session, 'schedule', contract.id, key, sha256))) return false;
    const { disbursedOn } = contract;
    const facts = {
      ...{ contract: contract.id, sha256: sha256.toString('hex'), disbursed_on: disbursedOn },
      certificate: sealer.certificate,
    };
    await addEvidence(session, vault, [
      { applicationId: id, entries: [{ kind: 'schedule_made', at: null, facts }] },
    ]);
    return true;
  });
  // Another process has taken the work over, under its own key.
  if (!isNoted) await store.delete(key);
  return isNoted ? { contract: { ...contract, scheduleKey: key, scheduleSha256: sha256 }, bytes } : 'later';
}

/** The final schedule, byte for byte. Throws an `Error` if the store does not have it, or has other bytes. */
export function readSchedule(
  { store, vault }: Pick<FinishContext, 'store' | 'vault'>,
  contract: StoredContract,
): Promise<Buffer> {
  const { scheduleKey, scheduleSha256, id } = contract;
  return readPdf(store, openSecret(vault, contract), scheduleKey ?? '', scheduleSha256, id);
}
