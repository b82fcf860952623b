/** The tables of operators' accounts: what is kept, sealed and deleted, and when. */
import type { Table } from '../../../ground/postgres/table.ts';
import { totpIdentity } from './factors.ts';
import { PENDING_LIVES } from './pending-sign-ins.ts';
import { SESSION_LIVES } from './sessions.ts';
import { TRY_COUNTS } from './tries.ts';

const SIGN_INS = 'forget the sessions of operators that ended';

export const OPERATORS = {
  name: 'operators',
  person: { not: 'accounts of operators and of people at partners, whose ids the history names' },
  sealed: {
    column: 'totp',
    kind: 'secrets of operators',
    id: 'id',
    under: ['id'],
    identity: totpIdentity,
  },
} satisfies Table;

export const OPERATOR_SESSIONS = {
  name: 'operator_sessions',
  person: { not: 'sessions of operators' },
  kept: { job: SIGN_INS, until: `NOT (${SESSION_LIVES})`, by: { scan: 'twenty rows an operator' } },
} satisfies Table;

export const OPERATOR_TRIES = {
  name: 'operator_tries',
  person: { not: 'keyed hashes of logins and addresses of operators, for 15 minutes' },
  kept: { job: SIGN_INS, until: `NOT (${TRY_COUNTS})`, by: 'since' },
} satisfies Table;

export const OPERATOR_PENDING_SIGN_INS = {
  name: 'operator_pending_sign_ins',
  person: { not: 'sign-ins of operators that are under way, for ten minutes' },
  kept: { job: SIGN_INS, until: `NOT (${PENDING_LIVES})`, by: 'started_at' },
} satisfies Table;

export const TABLES: readonly Table[] = [
  OPERATORS,
  OPERATOR_SESSIONS,
  OPERATOR_TRIES,
  OPERATOR_PENDING_SIGN_INS,
];
