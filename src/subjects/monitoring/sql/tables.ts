/** The tables that monitoring writes. `ground/postgres/table.ts` says what is declared. */
import { aged, type Table } from '../../../ground/postgres/table.ts';

const KEPT = "interval '30 days'";

export const TABLES: readonly Table[] = [
  { name: 'upkeep_jobs', person: { not: 'names of jobs' } },
  { name: 'message_count_hours', person: { not: 'numbers by status and hour' } },
  {
    name: 'troubles',
    person: { not: 'codes and texts of `status`' },
    kept: {
      job: 'forget troubles',
      until: `ended_at < now() - ${KEPT} AND ${aged('ended_ms', KEPT)}`,
      by: { scan: 'at most 100 rows of each code' },
    },
  },
  { name: 'trouble_looks', person: { not: 'one row of the store' } },
  { name: 'step_medians', person: { not: 'numbers by step' } },
];
