/**
 * Makes the final PDF of a signed contract: its pages, the certificate and the evidence (D46; docs/signing.md, "The
 * evidence"). Writes `loan_contracts` and the document store; the seal may need the network for its time stamp.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { named } from '../../../ground/base/named.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { newFileKey } from '../../documents/store/document-store.ts';
import { sealWith } from '../../documents/store/sealed-file.ts';
import { ANNEXES, signedPdf } from '../pdf/make.ts';
import { CONTRACT_WORDS } from '../rules/contract-words.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { claimFinish, noteFinish, readContract, type StoredContract } from '../sql/contracts.ts';
import { addEvidence, type Evidence, readEvidence } from '../sql/evidence.ts';
import { readAnnexes } from './annexes.ts';
import type { SigningContext } from './context.ts';
import { certificateBlocks, footOf } from './contract-blocks.ts';
import { headingOf, readPdf, readShown } from './make-contract.ts';

/** What finishing needs. */
export type FinishContext = Pick<SigningContext, 'database' | 'vault' | 'store' | 'sealer'>;

/** The final PDF of a signed contract. */
export interface SignedContract {
  readonly contract: StoredContract;
  readonly bytes: Buffer;
}

/**
 * The final PDF; it is made if there is none yet. Any number of processes may ask at once. Null if nothing is signed,
 * if no certificate is set, or while another process makes it. Throws what the database, the store and the authority of
 * the time throw, and an `Error` if the certificate has expired: then ask again after a minute.
 */
export async function finishContract(
  context: FinishContext,
  id: ApplicationId,
): Promise<SignedContract | null> {
  const { database, vault, store, sealer } = context;
  const contract = await readContract(database, id);
  if (contract === null || contract.signedAt === null) return null;
  if (contract.signedSha256 !== null) return { contract, bytes: await readSigned(context, contract) };
  if (sealer === null) return null;
  const at = await databaseTime(database);
  if (!sealer.isValidAt(at)) throw new Error('the certificate of SIGNING_CERTIFICATE_FILE is not valid now');
  const signedKey = newFileKey('contract');
  const claimed = await claimFinish(database, 'signed', contract.id, signedKey);
  if (claimed === 'busy') return null;
  if (claimed.before !== null) await store.delete(claimed.before);
  const shown = await readShown(context, contract);
  const evidence = untilSigned((await readEvidence(database, vault, id)).rows);
  const annexes = await readAnnexes(database, vault, id, evidence);
  const { certificate } = CONTRACT_WORDS[contract.terms.language];
  const heading = headingOf(contract.terms, certificate, at);
  const pdf = await signedPdf(heading, shown, {
    blocks: certificateBlocks(contract, evidence, annexes),
    foot: footOf(contract.id, contract.terms, certificate),
    evidence: evidenceJson(id, evidence),
    annexes,
  });
  const bytes = await sealer.seal(pdf, { reason: certificate, at });
  const signedSha256 = hash('sha256', bytes, 'buffer');
  await store.put(signedKey, sealWith(openSecret(vault, contract), bytes, signedKey));
  const isNoted = await inTransaction(database, async (session) => {
    if (!(await noteFinish(session, 'signed', contract.id, signedKey, signedSha256))) return false;
    const facts = {
      contract: contract.id,
      sha256: signedSha256.toString('hex'),
      certificate: sealer.certificate,
      annexes: ANNEXES.filter((annex) => annexes[annex] !== undefined).join(','),
    };
    await addEvidence(session, vault, [
      { applicationId: id, entries: [{ kind: 'document_made', at: null, facts }] },
    ]);
    return true;
  });
  // Another process has taken the work over, under its own key.
  if (!isNoted) await store.delete(signedKey);
  return isNoted ? { contract: { ...contract, signedKey, signedSha256 }, bytes } : null;
}

/** The final PDF, byte for byte. Throws an `Error` if the store does not have it, or has other bytes. */
export function readSigned(
  { store, vault }: Pick<SigningContext, 'store' | 'vault'>,
  contract: StoredContract,
): Promise<Buffer> {
  const { signedKey, signedSha256, id } = contract;
  return readPdf(store, openSecret(vault, contract), signedKey ?? '', signedSha256, id);
}

/** The evidence up to the signature. What comes later cannot be part of the signed PDF. */
export function untilSigned(evidence: readonly Evidence[]): Evidence[] {
  const last = evidence.findIndex(({ kind }) => kind === 'signed');
  return evidence.slice(0, last + 1);
}

/** The evidence as the PDF carries it. */
export function evidenceJson(id: ApplicationId, evidence: readonly Evidence[]): string {
  const told = evidence.map((one) => ({
    ...one,
    facts: JSON.parse(one.facts) as object,
    mac: one.mac.toString('hex'),
  }));
  const rows = named(told, ['number kind recorded_at happened_at', { facts: '*' }, 'key_number mac']);
  return JSON.stringify({ application_id: id, evidence: rows }, null, 2);
}
