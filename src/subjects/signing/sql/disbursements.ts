/**
 * The lines of payments: adds rows to `disbursements` and reads them (D46; docs/signing.md, "The payment"). Payee,
 * amount and reference are sealed with the secret of the contract, so they go with it.
 */
import { hash, randomBytes } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { EvidenceFacts } from '../../../domain/evidence/evidence.ts';
import type { LineKind } from '../../../domain/loan/disbursement.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { openWith, sealWith } from '../../documents/store/sealed-file.ts';
import type { RecordedLine } from '../rules/disbursement-lines.ts';

/** A proof in the store of documents. */
export interface Proof {
  readonly key: string;
  readonly sha256: Buffer;
}

/** A line as it is stored. */
export interface StoredLine extends RecordedLine {
  readonly recordedAt: Date;
  readonly recordedBy: string;
  readonly second: string | null;
  readonly proof: Proof | null;
  /** SHA-256 of what is sealed, in hex, as the evidence has it. */
  readonly sha256: string;
}

/** A line to record. */
export type NewLine = Omit<StoredLine, 'number' | 'recordedAt' | 'sha256'>;

interface Row {
  readonly number: number;
  readonly kind: LineKind;
  readonly returned: number | null;
  readonly valueDate: string;
  readonly recordedAt: Date;
  readonly recordedBy: string;
  readonly second: string | null;
  readonly content: Buffer;
  readonly proofKey: string | null;
  readonly proofSha256: Buffer | null;
}

const READ = `
  SELECT number, kind, returned, to_char(value_date, 'YYYY-MM-DD') AS "valueDate", recorded_at AS "recordedAt",
    recorded_by AS "recordedBy", second, content, proof_key AS "proofKey", proof_sha256 AS "proofSha256"
  FROM disbursements WHERE contract_id = $1 ORDER BY number`;

/** The lines of a contract in their order. Throws an `Error` if one was changed or put in. */
export async function readLines(session: Session, contractId: string, secret: Buffer): Promise<StoredLine[]> {
  const { rows } = await session.query<Row>(READ, [contractId]);
  return rows.map(({ content, proofKey, proofSha256, ...row }) => {
    const opened = openWith(secret, content, identityOf(contractId, row.number));
    const { payee, amount, reference } = JSON.parse(opened.toString()) as Sealed;
    const proof = proofKey === null || proofSha256 === null ? null : { key: proofKey, sha256: proofSha256 };
    return { ...row, payee, amount, reference, proof, sha256: hash('sha256', opened) };
  });
}

const NAMED = 'SELECT proof_key AS key FROM disbursements WHERE proof_key = ANY ($1::text[])';

/** Those of these keys of the document store that a line names as its proof. */
export async function namedProofs(session: Session, keys: readonly string[]): Promise<string[]> {
  return (await session.query<{ key: string }>(NAMED, [keys])).rows.map(({ key }) => key);
}

const ADD = `
  INSERT INTO disbursements (application_id, contract_id, number, kind, returned, value_date, recorded_by, second, content,
    proof_key, proof_sha256)
  SELECT $1, $2, g.number, g.kind, g.returned, g.value_date::date, $3, $4, g.content, g.proof_key, g.proof_sha256
  FROM unnest($5::integer[], $6::text[], $7::integer[], $8::text[], $9::bytea[], $10::text[], $11::bytea[])
    AS g(number, kind, returned, value_date, content, proof_key, proof_sha256)`;

/**
 * Adds lines behind the `before` lines of a contract that the transaction has locked. Returns the hash of each, in hex.
 */
export async function addLines(
  session: Transaction,
  { applicationId, id }: { readonly applicationId: ApplicationId; readonly id: string },
  secret: Buffer,
  before: number,
  lines: readonly NewLine[],
): Promise<string[]> {
  const sealed = lines.map(({ payee, amount, reference }, index) => {
    const content: Sealed = { payee, amount, reference, salt: randomBytes(16).toString('hex') };
    const bytes = Buffer.from(JSON.stringify(content));
    return {
      sha256: hash('sha256', bytes),
      content: sealWith(secret, bytes, identityOf(id, before + index + 1)),
    };
  });
  await session.query(ADD, [
    applicationId,
    id,
    lines[0]?.recordedBy,
    lines[0]?.second ?? null,
    lines.map((_, index) => before + index + 1),
    lines.map(({ kind }) => kind),
    lines.map(({ returned }) => returned),
    lines.map(({ valueDate }) => valueDate),
    sealed.map(({ content }) => content),
    lines.map(({ proof }) => proof?.key ?? null),
    lines.map(({ proof }) => proof?.sha256 ?? null),
  ]);
  return sealed.map(({ sha256 }) => sha256);
}

type FactsOfLine = Pick<StoredLine, 'number' | 'kind' | 'returned' | 'valueDate' | 'sha256' | 'proof'>;

/** What the evidence says about a line: no value of it but its days and its place in the list. */
export function factsOfLine(
  contractId: string,
  { number, kind, returned, valueDate, sha256, proof }: FactsOfLine,
): EvidenceFacts {
  return {
    contract: contractId,
    number,
    kind,
    returned,
    value_date: valueDate,
    sha256,
    proof_sha256: proof?.sha256.toString('hex') ?? null,
  };
}

/** What is sealed of a line. The salt keeps the hash in the evidence from telling a value that somebody guesses. */
interface Sealed {
  readonly payee: string;
  readonly amount: string;
  readonly reference: string;
  readonly salt: string;
}

/** The name that the content of a line is sealed under. */
function identityOf(contractId: string, number: number): string {
  return `disbursement:${contractId}:${number}`;
}

const DISBURSED_ON = 'UPDATE loan_contracts SET disbursed_on = $2 WHERE id = $1 AND disbursed_on IS NULL';

/** Notes the day from which the installments count. False: it was noted before. */
export async function noteDisbursedOn(session: Transaction, id: string, day: string): Promise<boolean> {
  return (await session.query(DISBURSED_ON, [id, day])).rowCount === 1;
}
