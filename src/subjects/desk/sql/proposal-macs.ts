/**
 * The MACs of open proposals: one covers what is proposed and by whom, the other who confirmed it. So a row that
 * somebody has written into `proposals` without the keys is not applied, and moves no application in an operator's name
 * (docs/operators.md, "Proposals"; `seal/row-macs.ts`).
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import { isRowMac, type MacedRows, renewedMacs, rowMac } from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { SecondReason } from '../rules/proposal.ts';

/** What the first MAC covers: everything but the free text of the reason, which an erasure of the person deletes. */
export interface ProposedFacts {
  readonly id: number;
  readonly applicationId: ApplicationId;
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly isOverride: boolean;
  readonly makerId: number;
  /** The last event of the application that the maker saw. */
  readonly decidedOn: string;
  readonly signedAt: Date | null;
  readonly needsSecond: SecondReason | null;
  /** The sealed lines of a payment; null: it has none. */
  readonly lines: Buffer | null;
  /** In whole milliseconds, as all times in the service's own rows, because a `Date` has no smaller parts. */
  readonly applyAt: Date;
}

/** A row with both MACs. */
export interface MacedProposal extends ProposedFacts {
  readonly reason: string;
  readonly secondId: number | null;
  readonly isConfirmed: boolean;
  readonly mac: Buffer;
  readonly secondMac: Buffer;
}

/** The columns of `MacedProposal`; `p` is the name of the table in the statement. */
export const MACED_PROPOSAL = `p.id::float8, p.application_id::float8 AS "applicationId", p.act,
  p.reason_code AS "reasonCode", p.reason, p.is_override AS "isOverride", p.maker_id AS "makerId",
  p.decided_on AS "decidedOn", p.decided_signed_at AS "signedAt", p.needs_second AS "needsSecond",
  p.apply_at AS "applyAt", p.second_id AS "secondId", p.confirmed_at IS NOT NULL AS "isConfirmed", p.mac,
  p.second_mac AS "secondMac", p.lines`;

function proposed(row: ProposedFacts) {
  return [
    ...[row.id, row.applicationId, row.act, row.reasonCode, row.isOverride],
    ...[row.makerId, Number(row.decidedOn), row.signedAt?.getTime() ?? null, row.needsSecond],
    row.applyAt.getTime(),
    // A proposal without lines has the MAC that version 1.0 gives it.
    ...(row.lines === null ? [] : [hash('sha256', row.lines)]),
  ];
}

/** The MAC of a new proposal. */
export function proposalMac(vault: Vault, row: ProposedFacts): Buffer {
  return rowMac(vault, 'proposal', proposed(row));
}

/** The MAC of a proposal's confirmation. */
export function confirmationMac(vault: Vault, id: number, secondId: number): Buffer {
  return rowMac(vault, 'confirmation of a proposal', [id, secondId]);
}

/** The MAC of a proposal after its due time was moved; null: the row is forged. */
export function movedMac(vault: Vault, row: MacedProposal, applyAt: Date): Buffer | null {
  if (!isRowMac(vault, 'proposal', proposed(row), row.mac)) return null;
  return proposalMac(vault, { ...row, applyAt });
}

/** Whether neither the proposal nor its confirmation, if it has one, is forged. */
export function isOwnProposal(vault: Vault, row: MacedProposal): boolean {
  if (!isRowMac(vault, 'proposal', proposed(row), row.mac)) return false;
  const confirmation = [row.id, row.secondId];
  return !row.isConfirmed || isRowMac(vault, 'confirmation of a proposal', confirmation, row.secondMac);
}

const OPEN = `FROM proposals p WHERE p.state = 'proposed'`;

/** The open proposals, and those of them that are confirmed. */
export const PROPOSALS: readonly [MacedRows<MacedProposal>, MacedRows<MacedProposal>] = [
  {
    kind: 'proposal',
    read: `SELECT p.id::text AS name, ${MACED_PROPOSAL} ${OPEN}`,
    write:
      'UPDATE proposals p SET mac = u.mac FROM unnest($1::bigint[], $2::bytea[]) AS u(id, mac) WHERE p.id = u.id',
    factsOf: proposed,
  },
  {
    kind: 'confirmation of a proposal',
    read: `
      SELECT p.id::text AS name, p.id::float8, p.second_id AS "secondId", p.second_mac AS mac
      ${OPEN} AND p.confirmed_at IS NOT NULL`,
    write: `
      UPDATE proposals p SET second_mac = u.mac FROM unnest($1::bigint[], $2::bytea[]) AS u(id, mac) WHERE p.id = u.id`,
    factsOf: ({ id, secondId }) => [id, secondId],
  },
];

export const PROPOSAL_MACS = [
  renewedMacs('MACs of proposals', PROPOSALS[0]),
  renewedMacs('MACs of confirmations', PROPOSALS[1]),
];
