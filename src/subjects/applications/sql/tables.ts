/**
 * The tables that the applications write. `ground/postgres/table.ts` says what is declared; docs/upkeep.md says how
 * long rows stay.
 */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { correctionIdentity } from './corrections.ts';

/** They are kept 24 hours (D36), and deleted when that time has certainly passed (D39). */
export const BATCH_RECEIPTS = {
  name: 'batch_receipts',
  person: 'application',
  kept: {
    job: 'delete receipts',
    until: aged('stored_ms', "receipt_life() + interval '1 hour'"),
    by: 'stored_ms',
    isFixed: true,
  },
} satisfies Table;

/** They go with their applications (`service.ts`). */
export const CORRECTIONS = {
  name: 'corrections',
  person: 'application',
  sealed: {
    column: 'content',
    kind: 'corrections',
    id: 'id',
    under: ['application_id', 'seal_id'],
    identity: correctionIdentity,
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  // By partition, and by hand: `reseal-envelopes.ts`, `reindex.ts`, `partitions.ts`.
  { name: 'batches', person: 'blind index' },
  BATCH_RECEIPTS,
  CORRECTIONS,
  { name: 'open_phones', person: 'application' },
  { name: 'application_states', person: 'application' },
  { name: 'application_events', person: 'application' },
  { name: 'review_queue', person: 'application' },
  { name: 'closed_segments', person: { not: 'ranges of batch numbers' } },
  { name: 'look_up_buckets', person: 'blind index' },
  { name: 'least_retention', person: { not: 'one row of the store' } },
];
