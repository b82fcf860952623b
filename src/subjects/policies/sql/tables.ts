/** The tables that the policies write. `ground/postgres/table.ts` says what is declared. */
import { aged, type Table } from '../../../ground/postgres/table.ts';

export const POLICY_PROPOSALS = {
  name: 'policy_proposals',
  person: { not: 'acts of operators' },
  kept: {
    job: 'forget proposals of policies',
    until: aged('created_ms', "interval '100 days'"),
    by: 'created_ms',
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  { name: 'policies', person: { not: 'scoring policies' } },
  { name: 'policy_drafts', person: { not: 'scoring policies, and the names of operators' } },
  { name: 'policy_activations', person: { not: 'acts of operators' } },
  { name: 'policy_backtests', person: { not: 'counts of decisions, and the names of operators' } },
  { name: 'policy_live', person: { not: 'one row of the store' } },
  POLICY_PROPOSALS,
];
