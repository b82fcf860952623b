/** The tables of incomes: what is kept, sealed and deleted, and when. */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { evidenceIdentity } from './income-checks.ts';
import { stepIdentity } from './income-steps.ts';

export const INCOME_CHECKS = {
  name: 'income_checks',
  person: 'application',
  sealed: {
    column: 'evidence',
    kind: 'income checks',
    id: 'id',
    under: ['application_id', "encode(digest, 'hex')"],
    identity: evidenceIdentity,
  },
} satisfies Table;

/** Sessions that nobody has answered for this time are deleted. */
export const INCOME_STEPS = {
  name: 'income_steps',
  person: 'application',
  kept: {
    job: 'forget sessions of income sources',
    until: aged('elapsed_ms', "interval '30 days'"),
    by: { scan: 'a row an application of which a provider waits for something' },
  },
  sealed: {
    column: 'session',
    kind: 'sessions of income sources',
    id: 'application_id',
    under: ['application_id'],
    identity: stepIdentity,
  },
} satisfies Table;

export const TABLES: readonly Table[] = [INCOME_CHECKS, INCOME_STEPS];
