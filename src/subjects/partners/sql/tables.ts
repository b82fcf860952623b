/** The tables that the partners write. `ground/postgres/table.ts` says what is declared. */
import { aged, type Table } from '../../../ground/postgres/table.ts';

const OUTCOMES_KEPT = "interval '30 days'";
export const KEY_OUTCOMES = {
  name: 'key_outcomes',
  person: { not: 'numbers by key and hour' },
  kept: {
    job: 'forget key outcomes',
    until: `hour < now() - ${OUTCOMES_KEPT} AND ${aged('stored_ms', OUTCOMES_KEPT)}`,
    by: 'hour',
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  { name: 'partners', person: { not: 'companies' } },
  { name: 'api_keys', person: { not: 'keys of companies' } },
  { name: 'usage_entries', person: { not: 'numbers by partner and second' } },
  { name: 'usage_counted', person: { not: 'numbers by partner and second' } },
  { name: 'usage_totals', person: { not: 'numbers by partner' } },
  KEY_OUTCOMES,
  { name: 'partner_requests', person: { not: 'requests of companies, without what they sent' } },
  { name: 'key_totals', person: { not: 'numbers by key' } },
];
