/** The tables of shadows, drift and labels: what is kept, and until when. */
import { aged, type Table } from '../../../ground/postgres/table.ts';

const JOB = 'forget shadows';

export const POLICY_SHADOWS = {
  name: 'policy_shadows',
  person: { not: 'scoring policies, and the names of operators' },
  kept: {
    job: JOB,
    until: `ended_at IS NOT NULL AND ${aged('ended_ms', "interval '100 days'")}`,
    by: 'ended_ms',
  },
} satisfies Table;

export const POLICY_SHADOW_COUNTS = {
  name: 'policy_shadow_counts',
  person: { not: 'numbers by day and partner' },
  kept: {
    job: JOB,
    until: 'NOT EXISTS (SELECT FROM policy_shadows s WHERE s.id = shadow_id)',
    by: { scan: 'a row a shadow, day and partner' },
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  POLICY_SHADOWS,
  POLICY_SHADOW_COUNTS,
  { name: 'loan_labels', person: 'application' },
  { name: 'policy_drift', person: { not: 'one row of the store' } },
  { name: 'policy_drift_counts', person: { not: 'numbers by day and partner' } },
  { name: 'policy_psi', person: { not: 'numbers by partner' } },
];
