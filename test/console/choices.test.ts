/** What the console's page offers to do with an application. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choicesOf, keyOfCode } from '../../console/src/decide/choices.ts';
import { REASON_CODES } from '../../src/domain/application/reason-codes.ts';
import type { ApplicationReply } from '../../src/subjects/desk/routes/forms.ts';
import type { ProposalReply } from '../../src/subjects/desk/routes/proposal-forms.ts';

const [ANA, BEA] = [
  { id: 1, login: 'ana' },
  { id: 2, login: 'bea' },
];
const of = (parts: Partial<ApplicationReply>) =>
  ({ status: 'in_review', review: null, proposal: null, ...parts }) as ApplicationReply;
const review = (state: 'waiting' | 'pended') => ({ state, due_at: null, claim: null, pend: null });
const proposal = (parts: Partial<ProposalReply>) =>
  ({ state: 'proposed', needs_second: null, second: null, by: ANA, ...parts }) as ProposalReply;

describe('what the page offers (D34, D48)', () => {
  it('follows the status, and a pend', () => {
    const offered = (parts: Partial<ApplicationReply>) => {
      const { acts, mayPend, mayResume } = choicesOf(of(parts), ANA.id);
      return [...acts, ...(mayPend ? ['pend'] : []), ...(mayResume ? ['resume'] : [])].join(' ');
    };
    assert.equal(offered({ review: review('waiting') }), 'approve reject pend');
    assert.equal(offered({ review: review('pended') }), 'resume');
    assert.equal(offered({ status: 'pending_signature' }), 'reject disburse');
    assert.equal(offered({ status: 'rejected' }), '');
    assert.equal(offered({ status: null }), '');
    assert.equal(offered({ review: review('waiting'), proposal: proposal({}) }), '');
    assert.equal(
      offered({ review: review('waiting'), proposal: proposal({ state: 'undone' }) }),
      'approve reject pend',
    );
  });

  it('lets another operator confirm, and nobody their own', () => {
    const may = (parts: Partial<ProposalReply>, operator: number) =>
      choicesOf(of({ proposal: proposal(parts) }), operator).mayConfirm;
    assert.equal(may({ needs_second: 'authority' }, BEA.id), true);
    assert.equal(may({ needs_second: 'authority' }, ANA.id), false);
    assert.equal(may({}, BEA.id), false);
    assert.equal(may({ needs_second: 'authority', second: BEA }, BEA.id), false);
    assert.equal(may({ needs_second: 'authority', state: 'applied' }, BEA.id), false);
  });

  it('gives each key to one reason code, and one to the last code', () => {
    for (const codes of Object.values(REASON_CODES)) {
      const keys = codes.map((_, index) => keyOfCode(index, codes.length)).filter((key) => key !== null);
      assert.equal(new Set(keys).size, keys.length);
      assert.notEqual(keyOfCode(codes.length - 1, codes.length), null);
    }
  });
});
