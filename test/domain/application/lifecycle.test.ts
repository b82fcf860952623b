import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  APPLICATION_STATUSES,
  INITIAL_STATUS,
  isOpen,
  REVIEW_ACTIONS,
  TRANSITIONS,
} from '../../../src/domain/application/lifecycle.ts';

describe('lifecycle', () => {
  it('contract "States and transitions": the statuses are the three of the contract and disbursed', () => {
    assert.deepEqual([...APPLICATION_STATUSES].sort(), [
      'disbursed',
      'in_review',
      'pending_signature',
      'rejected',
    ]);
  });

  it('contract "Outcome at creation": each decision has its first status', () => {
    assert.deepEqual(INITIAL_STATUS, {
      approved: 'pending_signature',
      in_review: 'in_review',
      rejected: 'rejected',
    });
  });

  it('D34: exactly the transitions of D34 exist', () => {
    const expected = [
      'in_review approve pending_signature',
      'in_review reject rejected',
      'pending_signature disburse disbursed',
      'pending_signature reject rejected',
    ];
    const actual = REVIEW_ACTIONS.flatMap((action) =>
      TRANSITIONS[action].from.map((from) => `${from} ${action} ${TRANSITIONS[action].to}`),
    );
    assert.deepEqual(actual.sort(), expected);
  });

  it('contract "States and transitions", D34: only rejected and disbursed are not open, and no transition leaves them', () => {
    assert.deepEqual(APPLICATION_STATUSES.filter((status) => isOpen(status)).sort(), [
      'in_review',
      'pending_signature',
    ]);
    for (const action of REVIEW_ACTIONS) {
      for (const from of TRANSITIONS[action].from) assert.ok(isOpen(from), `${action} from ${from}`);
    }
  });
});
