import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Application } from '../../../src/domain/application/fields.ts';
import { DEFAULT_TEMPLATES, messageType, OUTCOME_TYPES } from '../../../src/domain/message/notify.ts';
import { type Phone, toPhone } from '../../../src/domain/phone/phone.ts';
import { APPLICANT } from '../../support/applicant.ts';

const application = (messaging_optin: boolean, phone: Phone | null): Application => ({
  ...APPLICANT,
  phone,
  platform: 'gig',
  currency: 'COP',
  income: 1,
  debt_amount: 1,
  messaging_optin,
});

describe('notify', () => {
  it('D31: approved leads to approved, in_review to offer, rejected to rejected', () => {
    const types = { approved: 'approved', in_review: 'offer', rejected: 'rejected' } as const;
    for (const decision of ['approved', 'in_review', 'rejected'] as const) {
      assert.equal(messageType(application(true, toPhone('+573001234567')), decision), types[decision]);
    }
  });

  it('contract "Events", D31: without consent or without a phone there is no message', () => {
    for (const decision of ['approved', 'in_review', 'rejected'] as const) {
      assert.equal(messageType(application(false, toPhone('+573001234567')), decision), null);
      assert.equal(messageType(application(true, null), decision), null);
      assert.equal(messageType(application(false, null), decision), null);
    }
  });

  it('D32: the types are those of the contract, with the default template names', () => {
    assert.deepEqual([...OUTCOME_TYPES].sort(), ['approved', 'offer', 'rejected']);
    assert.deepEqual(DEFAULT_TEMPLATES, {
      approved: 'ventanilla_approved',
      offer: 'ventanilla_offer',
      rejected: 'ventanilla_rejected',
      rejected_reasons: 'ventanilla_rejected_reasons',
      reminder: 'ventanilla_reminder',
    });
  });
});
