/**
 * Keeps the proofs of payments: files that operators name, checked by their content, sealed with the secret of the
 * contract and stored before the payment is recorded (docs/signing.md, "The payment"). Uses the document store.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { checkFile } from '../../documents/rules/file-type.ts';
import { newFileKey } from '../../documents/store/document-store.ts';
import { sealWith } from '../../documents/store/sealed-file.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { readContract } from '../sql/contracts.ts';
import { namedProofs, type Proof } from '../sql/disbursements.ts';
import type { SigningContext } from './context.ts';

export type { Proof };

/** The most bytes of a proof. */
export const MOST_PROOF_BYTES = 10 * 1024 * 1024;

/**
 * Stores the proofs of a payment and does the work with them. If the work fails, the proofs that no line names are
 * deleted again. Throws `OperatorError` if a file is no PDF and no picture, or if the application has no signed
 * contract.
 */
export async function withProofs<T>(
  { database, vault, store }: Pick<SigningContext, 'database' | 'vault' | 'store'>,
  id: ApplicationId,
  files: ReadonlyMap<string, Buffer>,
  work: (proofs: ReadonlyMap<string, Proof>) => Promise<T>,
): Promise<T> {
  if (files.size === 0) return work(new Map());
  for (const [name, bytes] of files) {
    const checked = checkFile(bytes, null);
    if ('refused' in checked)
      throw new OperatorError(`${name} must be a whole PDF or picture: it is refused as ${checked.refused}`);
  }
  const contract = await readContract(database, id);
  if (contract?.state !== 'signed')
    throw new OperatorError(`application ${id} has no signed contract: it is paid out without proofs`);
  const secret = openSecret(vault, contract);
  const proofs = new Map<string, Proof>();
  try {
    for (const [name, bytes] of files) {
      const proof = { key: newFileKey('contract'), sha256: hash('sha256', bytes, 'buffer') };
      await store.put(proof.key, sealWith(secret, bytes, proof.key));
      proofs.set(name, proof);
    }
    return await work(proofs);
  } catch (error) {
    const keys = [...proofs.values()].map(({ key }) => key);
    // The work may be stored although its answer was lost. A proof that cannot be looked up stays, too.
    const named = await namedProofs(database, keys).catch(() => keys);
    for (const key of keys) if (!named.includes(key)) await store.delete(key).catch(() => {});
    throw error;
  }
}
