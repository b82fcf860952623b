/**
 * The MACs of open proposals: one covers what is proposed and by whom, the other one who confirmed it. A proposal that
 * somebody put into the table is not applied, and moves no application under the name of an operator.
 */
import { isRowMac, type MacedRows, renewedMacs, rowMac } from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';

/** What the first MAC covers: all but the free text of the reason, which an erasure of the person takes. */
export interface ProposedFacts {
  readonly id: string;
  readonly application_id: string;
  readonly act: string;
  readonly reason_code: string;
  readonly is_override: boolean;
  readonly maker_id: number;
  readonly decided_on: string;
  readonly decided_signed_at: Date | null;
  readonly needs_second: string | null;
  /** Of whole milliseconds, as all times of the service's own rows: a `Date` has no parts of one. */
  readonly apply_at: Date;
}

/** A row with both MACs. */
export interface MacedProposal extends ProposedFacts {
  readonly reason: string;
  readonly second_id: number | null;
  readonly is_confirmed: boolean;
  readonly mac: Buffer;
  readonly second_mac: Buffer;
}

/** The columns of `MacedProposal`; `p` is the name of the table in the statement. */
export const MACED_PROPOSAL = `p.id, p.application_id, p.act, p.reason_code, p.reason, p.is_override, p.maker_id,
  p.decided_on, p.decided_signed_at, p.needs_second, p.apply_at, p.second_id, p.confirmed_at IS NOT NULL AS is_confirmed,
  p.mac, p.second_mac`;

function proposed(row: ProposedFacts) {
  return [
    ...[Number(row.id), Number(row.application_id), row.act, row.reason_code, row.is_override],
    ...[row.maker_id, Number(row.decided_on), row.decided_signed_at?.getTime() ?? null, row.needs_second],
    row.apply_at.getTime(),
  ];
}

/** The MAC of a new proposal. */
export function proposalMac(vault: Vault, row: ProposedFacts): Buffer {
  return rowMac(vault, 'proposal', proposed(row));
}

/** The MAC of its confirmation. */
export function confirmationMac(vault: Vault, id: number, secondId: number): Buffer {
  return rowMac(vault, 'confirmation of a proposal', [id, secondId]);
}

/** The MAC of a proposal that is due at another time; null: this service has not written it as it is. */
export function movedMac(vault: Vault, row: MacedProposal, applyAt: Date): Buffer | null {
  if (!isRowMac(vault, 'proposal', proposed(row), row.mac)) return null;
  return proposalMac(vault, { ...row, apply_at: applyAt });
}

/** Whether this service has written the proposal, and its confirmation where it has one. */
export function isOwnProposal(vault: Vault, row: MacedProposal): boolean {
  if (!isRowMac(vault, 'proposal', proposed(row), row.mac)) return false;
  const confirmation = [Number(row.id), row.second_id];
  return !row.is_confirmed || isRowMac(vault, 'confirmation of a proposal', confirmation, row.second_mac);
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
    read: `SELECT p.id::text AS name, p.id, p.second_id, p.second_mac AS mac ${OPEN} AND p.confirmed_at IS NOT NULL`,
    write: `
      UPDATE proposals p SET second_mac = u.mac FROM unnest($1::bigint[], $2::bytea[]) AS u(id, mac) WHERE p.id = u.id`,
    factsOf: ({ id, second_id }) => [Number(id), second_id],
  },
];

export const PROPOSAL_MACS = [
  renewedMacs('MACs of proposals', PROPOSALS[0]),
  renewedMacs('MACs of confirmations', PROPOSALS[1]),
];
