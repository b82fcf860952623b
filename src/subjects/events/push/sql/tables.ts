/** The tables that the pushes write. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../../../../ground/postgres/table.ts';
import { endpointIdentity } from './endpoint-settings.ts';

export const PARTNER_ENDPOINTS = {
  name: 'partner_endpoints',
  person: { not: 'URLs of companies' },
  sealed: {
    column: 'sealed',
    kind: 'endpoints',
    id: 'partner_id',
    under: ['partner_id'],
    identity: endpointIdentity,
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  PARTNER_ENDPOINTS,
  { name: 'pushes', person: 'application' },
  { name: 'push_attempts', person: { not: 'numbers of events, and codes' } },
];
