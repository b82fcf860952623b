/** The tables of contracts: what is kept, sealed and deleted, and when (docs/signing.md, "How long it stays"). */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { secretIdentity } from './contract-secrets.ts';
import { debtIdentity } from './debts.ts';

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

/** They go with the contract that pays them, or as unsigned contracts do (`forget_contracts`). */
export const LOAN_DEBTS = {
  name: 'loan_debts',
  person: 'application',
  sealed: {
    column: 'content',
    kind: 'debts',
    id: 'id',
    under: ['application_id', 'seal_id'],
    identity: debtIdentity,
  },
} satisfies Table;

const ACCEPTANCES_KEPT = "interval '120 days'";
/** What was accepted longer ago is accepted again before an offer. */
export const DEBT_ACCEPTANCES = {
  name: 'debt_acceptances',
  person: 'application',
  kept: {
    job: 'forget accepted lists of debts',
    until: aged('elapsed_ms', ACCEPTANCES_KEPT),
    by: 'elapsed_ms',
    isFixed: true,
  },
} satisfies Table;

/** An offer holds for 31 days at most. */
export const LOAN_OFFERS = {
  name: 'loan_offers',
  person: 'application',
  kept: {
    job: 'forget offers',
    until: aged('elapsed_ms', "interval '120 days'"),
    by: 'elapsed_ms',
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  LOAN_CONTRACTS,
  SIGNING_CODES,
  LOAN_DEBTS,
  DEBT_ACCEPTANCES,
  LOAN_OFFERS,
  { name: 'contract_evidence', person: 'application' },
  { name: 'disbursements', person: 'application' },
];
