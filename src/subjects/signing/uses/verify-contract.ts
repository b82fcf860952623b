/**
 * Proves a signature from the store alone: the chain of evidence, the hashes, the seals and the state (D46;
 * docs/signing.md, "The evidence" has the checks). Reads `loan_contracts`, `disbursements`, `contract_evidence`
 * and the files of contracts, and writes nothing.
 */
import { hash } from 'node:crypto';
import { PDF } from '@libpdf/core';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { readApplications } from '../../applications/sql/applications.ts';
import { checkSeal } from '../pdf/check-seal.ts';
import { ANNEXES, ATTACHED } from '../pdf/make.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { readContract, type StoredContract } from '../sql/contracts.ts';
import { factsOfLine, readLines, type StoredLine } from '../sql/disbursements.ts';
import { type Evidence, type EvidenceChain, readEvidence } from '../sql/evidence.ts';
import { annexFacts } from './annexes.ts';
import type { SigningContext } from './context.ts';
import { readSchedule } from './final-schedule.ts';
import { evidenceJson, readSigned, untilSigned } from './finish-contract.ts';
import { readPdf, readShown } from './make-contract.ts';

/** One thing that was checked. */
export interface Check {
  readonly name: 'evidence' | 'shown' | 'signature' | 'document' | 'payment' | 'state';
  /** null: the check holds. Otherwise what is wrong, or what cannot be checked yet. */
  readonly fault: string | null;
}

export interface VerifiedContract {
  readonly applicationId: ApplicationId;
  readonly contractId: string;
  readonly state: StoredContract['state'];
  /** SHA-256 of the contract that was shown, in hex. */
  readonly sha256: string | null;
  /** SHA-256 of the certificate that sealed the document, in hex. */
  readonly certificate: string | null;
  readonly timestamped: boolean;
  readonly evidence: number;
  readonly checks: readonly Check[];
}

type VerifyContext = Pick<SigningContext, 'database' | 'vault' | 'store'>;

/** The most faults of the chain that are named. */
const MOST_NAMED = 20;

/** Checks everything about the contract of an application; null: there is no contract. */
export async function verifyContract(
  context: VerifyContext,
  id: ApplicationId,
): Promise<VerifiedContract | null> {
  const { database, vault } = context;
  const contract = await readContract(database, id);
  if (contract === null) return null;
  const chain = await readEvidence(database, vault, id);
  const evidence = chain.rows;
  const shown = await pdfOf(() => readShown(context, contract));
  const isFinal = contract.signedSha256 !== null;
  const signed = isFinal ? await pdfOf(() => readSigned(context, contract)) : null;
  const newest = signed ?? shown;
  const seal = newest instanceof Buffer ? checkSeal(newest) : null;
  const [application] = await readApplications(database, vault, [id]);
  const isSigned = contract.signedAt !== null;
  const hasPayment = contract.disbursedOn !== null || evidence.some(({ kind }) => PAYMENTS.includes(kind));
  const checks: Check[] = [
    { name: 'evidence', fault: chainFault(chain) },
    { name: 'shown', fault: shownFault(shown) },
    ...(isSigned
      ? ([
          { name: 'signature', fault: signatureFault(contract, evidence) },
          { name: 'document', fault: await documentFault(contract, signed, shown, evidence) },
        ] as const)
      : []),
    ...(hasPayment
      ? [{ name: 'payment', fault: await paymentFault(context, contract, evidence) } as const]
      : []),
    {
      name: 'state',
      fault: stateFault(contract, evidence, application?.signedAt ?? null, application?.status ?? null),
    },
  ];
  return {
    applicationId: id,
    contractId: contract.id,
    state: contract.state,
    sha256: contract.sha256?.toString('hex') ?? null,
    certificate: seal?.certificate ?? null,
    timestamped: seal?.timestamped ?? false,
    evidence: evidence.length,
    checks,
  };
}

/** The bytes, or why there are none. */
async function pdfOf(read: () => Promise<Buffer>): Promise<Buffer | string> {
  try {
    return await read();
  } catch (error) {
    return describeError(error);
  }
}

function chainFault({ rows, faults }: EvidenceChain): string | null {
  if (faults.length > 0) return faults.slice(0, MOST_NAMED).join('; ');
  return rows.length === 0 ? 'there is none' : null;
}

function shownFault(shown: Buffer | string): string | null {
  if (typeof shown === 'string') return shown;
  return checkSeal(shown).intact ? null : 'its seal does not hold';
}

/** What is missing in the evidence about this signature and the steps before it; null: nothing. */
function signatureFault(
  { id, sha256, signedAt }: StoredContract,
  evidence: readonly Evidence[],
): string | null {
  const before = untilSigned(evidence);
  const last = before.at(-1);
  if (last === undefined) return 'there is no evidence of the signature';
  const facts = JSON.parse(last.facts) as Record<string, unknown>;
  const hex = sha256?.toString('hex');
  if (facts.contract !== id || facts.sha256 !== hex) return 'the evidence is of another contract';
  if (facts.signed_at !== signedAt?.toISOString()) return 'the evidence has another time';
  for (const kind of ['contract_made', 'contract_shown', 'contract_accepted'] as const) {
    if (!before.some((row) => row.kind === kind && row.facts.includes(`"${hex}"`))) {
      return `there is no evidence of ${kind} for this contract`;
    }
  }
  if (!before.some(({ kind }) => kind === 'data_consent_given')) {
    return 'there is no evidence of data_consent_given';
  }
  for (const kind of ['id_checked', 'code_checked'] as const) {
    const right = before.some((row) => row.kind === kind && row.facts.includes('"result":"right"'));
    if (!right) return `there is no evidence of ${kind}`;
  }
  return null;
}

async function documentFault(
  { applicationId, signedSha256 }: StoredContract,
  signed: Buffer | string | null,
  shown: Buffer | string,
  evidence: readonly Evidence[],
): Promise<string | null> {
  if (signed === null) return 'the signed PDF is not made yet: a running service makes it within a minute';
  if (typeof signed === 'string') return signed;
  const { intact, certificate } = checkSeal(signed);
  if (!intact) return 'its seal does not hold';
  const made = evidence.findLast(({ kind }) => kind === 'document_made')?.facts ?? '';
  if (!made.includes(`"${signedSha256?.toString('hex')}"`))
    return 'it is another one than the evidence tells of';
  if (!made.includes(`"${certificate}"`)) return 'another certificate seals it than the evidence tells of';
  if (typeof shown === 'string') return 'the shown contract is missing';
  const pdf = await PDF.load(signed);
  const contract = pdf.getAttachment(ATTACHED.contract);
  if (contract === null || hash('sha256', contract) !== hash('sha256', shown)) {
    return 'another contract is attached than the one that was shown';
  }
  const attached = pdf.getAttachment(ATTACHED.evidence);
  if (
    attached === null ||
    Buffer.from(attached).toString() !== evidenceJson(applicationId, untilSigned(evidence))
  ) {
    return 'other evidence is attached than the store has';
  }
  const annexes = annexFault(pdf, made, untilSigned(evidence));
  if (annexes !== null) return annexes;
  const pages = (await PDF.load(shown)).getPages();
  const differs = pages.some(
    (page, index) => page.extractText().text !== pdf.getPages()[index]?.extractText().text,
  );
  return differs ? 'its pages say something else than the shown contract' : null;
}

const PAYMENTS: readonly Evidence['kind'][] = ['disbursed', 'disbursement_line'];

/** What differs between the lines of the payment, with their proofs, and the evidence about them; null: nothing. */
async function paymentFault(
  { database, vault, store }: VerifyContext,
  contract: StoredContract,
  evidence: readonly Evidence[],
): Promise<string | null> {
  const secret = openSecret(vault, contract);
  let lines: StoredLine[];
  try {
    lines = await readLines(database, contract.id, secret);
  } catch (error) {
    return `a line cannot be read: ${describeError(error)}`;
  }
  const told = evidence.filter(({ kind }) => kind === 'disbursement_line').map(({ facts }) => facts);
  const has = lines.map((line) => JSON.stringify(factsOfLine(contract.id, line)));
  const missing = told.findIndex((facts) => !has.includes(facts));
  if (missing !== -1) return `line ${missing + 1} of the evidence is missing or changed`;
  const extra = lines.find((_, index) => !told.includes(has[index]!));
  if (extra !== undefined) return `line ${extra.number} is not in the evidence`;
  for (const { number, proof } of lines) {
    if (proof === null) continue;
    const bytes = await pdfOf(() => readPdf(store, secret, proof.key, proof.sha256, contract.id));
    if (typeof bytes === 'string') return `the proof of line ${number}: ${bytes}`;
  }
  return scheduleFault({ vault, store }, contract, evidence);
}

/** What is wrong with the final schedule; null: nothing, or it is not made yet. */
async function scheduleFault(
  context: Pick<VerifyContext, 'vault' | 'store'>,
  contract: StoredContract,
  evidence: readonly Evidence[],
): Promise<string | null> {
  const made = evidence.findLast(({ kind }) => kind === 'schedule_made')?.facts;
  const hex = contract.scheduleSha256?.toString('hex');
  if (made === undefined && hex === undefined) return null;
  if (made === undefined || !made.includes(`"${hex}"`))
    return 'the final schedule is another one than the evidence tells of';
  const told = (JSON.parse(made) as { disbursed_on?: unknown }).disbursed_on;
  if (told !== contract.disbursedOn)
    return 'the installments count from another day than the evidence tells of';
  const bytes = await pdfOf(() => readSchedule(context, contract));
  if (typeof bytes === 'string') return `the final schedule: ${bytes}`;
  return checkSeal(bytes).intact ? null : 'the seal of the final schedule does not hold';
}

/**
 * What is wrong with the attached words of the consent and of the offer; null: nothing. A document from before it had
 * annexes names none.
 */
function annexFault(pdf: PDF, made: string, evidence: readonly Evidence[]): string | null {
  if ((JSON.parse(made) as { annexes?: string }).annexes === undefined) return null;
  for (const annex of ANNEXES) {
    const facts = annexFacts(annex, evidence);
    if (facts === null) continue;
    const attached = pdf.getAttachment(ATTACHED[annex]);
    if (attached === null) return `the words of the ${annex} are not attached`;
    if (hash('sha256', attached) !== facts.sha256)
      return `other words of the ${annex} are attached than the evidence tells of`;
  }
  return null;
}

function stateFault(
  { state, signedAt, withdrawnAt }: StoredContract,
  evidence: readonly Evidence[],
  applicationSignedAt: Date | null,
  status: string | null,
): string | null {
  const taken = evidence.findLast(({ kind }) => kind === 'withdrawn');
  const told = taken && (JSON.parse(taken.facts) as { withdrawn_at?: unknown }).withdrawn_at;
  if (told !== withdrawnAt?.toISOString() || (taken === undefined) !== (state !== 'withdrawn')) {
    return 'the evidence tells something else of a withdrawal';
  }
  // After the retention the application is gone, and the contract stays.
  if (status === null) return null;
  if (signedAt?.getTime() !== applicationSignedAt?.getTime())
    return 'the application has another time of signature';
  if (state === 'withdrawn' && status !== 'rejected')
    return `the signature is withdrawn, and the application is ${status}`;
  return null;
}
