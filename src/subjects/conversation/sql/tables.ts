/** The tables of conversations: what is kept, sealed and deleted, and when. */
import type { Table } from '../../../ground/postgres/table.ts';
import { inputIdentity } from './inputs.ts';

export const CONVERSATION_INPUTS = {
  name: 'conversation_inputs',
  person: 'blind index',
  sealed: {
    column: 'content',
    kind: 'conversation inputs',
    id: 'id',
    under: ['application_id', 'seal_id'],
    identity: inputIdentity,
  },
  indexes: [{ column: 'message_index', isUnique: true }],
} satisfies Table;

export const CONVERSATION_COUNTS = {
  name: 'conversation_counts',
  person: { not: 'numbers by step and holder' },
  fold: { job: 'fold conversation counts', key: ['step', 'holder'], sums: ['conversations'] },
} satisfies Table;

export const TABLES: readonly Table[] = [
  {
    name: 'conversations',
    person: 'blind index',
    indexes: [{ column: 'phone_index', moves: 'as replaced' }],
  },
  CONVERSATION_INPUTS,
  { name: 'conversation_work', person: 'application' },
  { name: 'flows', person: { not: 'texts of companies' } },
  CONVERSATION_COUNTS,
];
