/**
 * Makes the contract that an applicant reads before the acceptance, or shows the same one again (D45; docs/signing.md,
 * "The contract"). Writes `loan_contracts`, the evidence and the document store; the seal may need the network for its
 * time stamp.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Offer } from '../../../domain/loan/offer.ts';
import { moneyText } from '../../../domain/money/money.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { newFileKey } from '../../documents/store/document-store.ts';
import { openWith, sealWith } from '../../documents/store/sealed-file.ts';
import { contractPdf, type Heading } from '../pdf/make.ts';
import { type Sealer, TimestampFailure } from '../pdf/seal.ts';
import { contractIsPossible } from '../sql/blocks.ts';
import { newSecret, openSecret } from '../sql/contract-secrets.ts';
import {
  beginContract,
  type ContractTerms,
  dropContract,
  expireContracts,
  openContract,
  PLANNED,
  readContract,
  type StoredContract,
} from '../sql/contracts.ts';
import { currentDebtIds, holdDebts } from '../sql/debts.ts';
import { addEvidence } from '../sql/evidence.ts';
import type { SigningContext } from './context.ts';
import { contractBlocks, footOf } from './contract-blocks.ts';
import { type Blocked, type ContractSource, sourceOf } from './price.ts';

/** A contract that can be shown. */
export interface MadeContract {
  readonly kind: 'made';
  /** The number that people read. */
  readonly contractId: string;
  /** SHA-256 of `bytes`, in hex: the acceptance names it. */
  readonly sha256: string;
  readonly filename: string;
  readonly bytes: Buffer;
  /** What the contract says about its costs. */
  readonly offer: Offer;
}

/** The work has to be done again: `reason` is a code. */
export interface TryAgain {
  readonly kind: 'retry';
  readonly reason: 'no_time_stamp' | 'debts_changed';
}

/**
 * The contract of an application with a conversation. While a contract may be signed, the same one comes again, even if
 * terms or brand have changed meanwhile; after its time a new one is made. Throws what the database and the store
 * throw: then nothing can be shown, and the work has to be done again.
 */
export async function makeContract(
  context: SigningContext,
  id: ApplicationId,
): Promise<MadeContract | Blocked | TryAgain> {
  await expireContracts(context.database, id);
  const open = await readContract(context.database, id);
  if (open !== null && open.state !== 'open') return { kind: 'blocked', reason: 'not_pending' };
  if (open !== null && !open.isExpired) return shownAgain(context, open);
  const source = await sourceOf(context, id);
  if (source.kind === 'blocked') return source;
  try {
    return await makeNew(context, context.sealer as Sealer, id, source);
  } catch (error) {
    if (error instanceof TimestampFailure) return { kind: 'retry', reason: 'no_time_stamp' };
    throw error;
  }
}

async function shownAgain(context: SigningContext, contract: StoredContract): Promise<MadeContract> {
  return madeOf(contract.id, await readShown(context, contract), contract.terms.offer);
}

/** The PDF that was shown, byte for byte. Throws an `Error` if the store does not have it, or has other bytes. */
export async function readShown(
  { store, vault }: Pick<SigningContext, 'store' | 'vault'>,
  contract: Pick<StoredContract, 'id' | 'shownKey' | 'sealed' | 'sha256'>,
): Promise<Buffer> {
  return readPdf(store, openSecret(vault, contract), contract.shownKey, contract.sha256, contract.id);
}

/** A PDF from the store. Throws an `Error` if it is not there, or if its hash is another one. */
export async function readPdf(
  store: SigningContext['store'],
  secret: Buffer,
  key: string,
  sha256: Buffer | null,
  contractId: string,
): Promise<Buffer> {
  const sealed = await store.get(key);
  if (sealed === undefined) throw new Error(`the store has no PDF of contract ${contractId}`);
  const pdf = openWith(secret, sealed, key);
  if (sha256 === null || hash('sha256', pdf, 'hex') !== sha256.toString('hex')) {
    throw new Error(`the PDF of contract ${contractId} is another one than was made`);
  }
  return pdf;
}

async function makeNew(
  context: SigningContext,
  sealer: Sealer,
  id: ApplicationId,
  source: ContractSource,
): Promise<MadeContract | Blocked | TryAgain> {
  const { database, vault, store } = context;
  const terms = termsOf(source);
  const shownKey = newFileKey('contract');
  const { secret, sealed } = newSecret(vault, shownKey);
  // The row comes first. If the work is cut off, the upkeep finds by the row what lies in the store.
  const made = { terms, shownKey, sealed, expiresAt: source.priced.expiresAt };
  const contractId = await beginContract(database, id, made);
  const heading = headingOf(terms, source.template.title, source.now);
  const pdf = await contractPdf(heading, contractBlocks(source, contractId), footOf(contractId, terms));
  const bytes = await sealer.seal(pdf, { reason: heading.title, at: source.now });
  await store.put(shownKey, sealWith(secret, bytes, shownKey));
  const sha256 = hash('sha256', bytes, 'buffer');
  const end = await inTransaction(database, async (session) => {
    // A rejection, or another making for the same application, waits for this lock.
    const state = await lockState(session, id);
    if (state?.status !== 'pending_signature') return 'not_pending' as const;
    await holdDebts(session, [id]);
    await contractIsPossible(session, id);
    // Nobody changes the list between this look and the signature without closing the contract.
    if (!isSameList(terms, await currentDebtIds(session, id))) return 'debts_changed' as const;
    if (!(await openContract(session, contractId, sha256))) return 'overtaken' as const;
    const facts = {
      contract: contractId,
      sha256: sha256.toString('hex'),
      terms: hash('sha256', JSON.stringify(terms), 'hex'),
      certificate: sealer.certificate,
      expires_at: source.priced.expiresAt.toISOString(),
    };
    await addEvidence(session, vault, [
      { applicationId: id, entries: [{ kind: 'contract_made', at: null, facts }] },
    ]);
    return 'opened' as const;
  });
  if (end === 'opened') return madeOf(contractId, bytes, terms.offer);
  await dropContract(database, contractId);
  if (end === 'not_pending') return { kind: 'blocked', reason: end };
  if (end === 'debts_changed') return { kind: 'retry', reason: end };
  // Another process was faster. Only one contract at a time is shown.
  const other = await readContract(database, id);
  if (other === null || other.state !== 'open') throw new Error(`contract ${contractId} was overtaken`);
  return shownAgain(context, other);
}

/** Whether a contract pays the list of this moment. */
function isSameList({ offer: { paying } }: ContractTerms, ids: readonly number[]): boolean {
  return JSON.stringify(paying?.debts ?? []) === JSON.stringify(ids);
}

function termsOf({
  country,
  countryTerms,
  template,
  templateName,
  termsVersion,
  offer,
  priced,
}: ContractSource): ContractTerms {
  const { loan, limitedRate } = priced;
  return {
    country,
    termsVersion,
    template: `${templateName} ${template.version}`,
    language: template.language,
    zone: countryTerms.zone,
    withdrawal: countryTerms.withdrawal,
    offer,
    limitedRate: `${limitedRate}`,
    payments: loan.payments.map((one) => PLANNED.map((column) => moneyText(one[column], offer.currency))),
  };
}

/** The title, author and time in the PDF's own description. */
export function headingOf({ language, offer }: ContractTerms, title: string, at: Date): Heading {
  return { title, author: offer.lender, language, at };
}

function madeOf(contractId: string, bytes: Buffer, offer: Offer): MadeContract {
  const sha256 = hash('sha256', bytes, 'hex');
  return { kind: 'made', contractId, sha256, filename: `contract-${contractId}.pdf`, bytes, offer };
}
