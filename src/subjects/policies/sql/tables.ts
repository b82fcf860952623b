/** The tables that the policies write. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../../../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'policies', person: { not: 'scoring policies' } },
  { name: 'policy_drafts', person: { not: 'scoring policies, and the names of operators' } },
  { name: 'policy_activations', person: { not: 'acts of operators' } },
  { name: 'policy_backtests', person: { not: 'counts of decisions, and the names of operators' } },
  { name: 'policy_live', person: { not: 'one row of the store' } },
];
