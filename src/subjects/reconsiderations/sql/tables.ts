/** The tables of reconsiderations: what is kept, sealed and deleted, and when. */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { caseIdentity } from './cases.ts';

/** Chile's law gives two years to complain (Ley 19.496, article 26); an operator's counsel may want another time. */
const KEPT = "interval '730 days'";

export const CASES = {
  name: 'cases',
  person: 'application',
  kept: {
    job: 'forget answered cases',
    until: `outcome IS NOT NULL AND ${aged('answered_ms', KEPT)}`,
    by: 'answered_ms',
  },
  sealed: {
    column: 'content',
    kind: 'cases',
    id: 'id',
    under: ['application_id', 'seal_id'],
    identity: caseIdentity,
  },
  indexes: [{ column: 'message_index' }],
} satisfies Table;

export const TOLD_REASONS = {
  name: 'told_reasons',
  person: 'application',
  kept: { job: 'forget told reasons', until: aged('told_ms', KEPT), by: 'told_ms' },
} satisfies Table;

export const TABLES: readonly Table[] = [CASES, TOLD_REASONS];
