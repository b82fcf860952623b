/** The tables of contracts: what is kept, sealed and deleted, and when (docs/signing.md, "How long it stays"). */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { secretIdentity } from './contract-secrets.ts';

/** A row whose contract was dropped meanwhile stays without its secret. */
export const LOAN_CONTRACTS = {
  name: 'loan_contracts',
  person: 'application',
  sealed: {
    column: 'sealed',
    kind: 'contract secrets',
    id: 'id',
    under: ['shown_key'],
    identity: secretIdentity,
  },
} satisfies Table;

const ROUNDS_KEPT = "interval '2 days'";
/** Nothing counts these rounds any more. */
export const SIGNING_CODES = {
  name: 'signing_codes',
  person: 'application',
  kept: {
    job: 'forget codes',
    until: `began_at < now() - ${ROUNDS_KEPT} AND ${aged('elapsed_ms', ROUNDS_KEPT)}`,
    by: 'began_at',
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  LOAN_CONTRACTS,
  SIGNING_CODES,
  { name: 'contract_evidence', person: 'application' },
];
