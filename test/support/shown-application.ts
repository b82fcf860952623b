/** An application with all that its page can show, and markup in each text that somebody else writes. */
import { CRITERIA } from '../../src/domain/scorecard/scorecard.ts';
import type { ApplicationReply, RevealedReply } from '../../src/subjects/desk/routes/forms.ts';
import type { NeighboursReply } from '../../src/subjects/desk/routes/neighbour-forms.ts';

export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>{{7*7}}';
const AT = '2026-03-02T10:00:00Z';
const PARTNER = { id: 1, name: `Banco ${MARKUP}` };
const BY = { id: 7, login: 'rosa.sol' };
const OPERATOR = { way: 'operator', ...BY } as const;
const APPLICANT = { way: 'applicant', id: null, login: 'applicant' } as const;
const HAPPENED = {
  proposal: null,
  ...{ from: null, to: null, reason: '', reason_code: null, second: null, missing: null, end: null },
};
const POINTS = [10, 25, 8, 12, 0];

export const SHOWN_ID = 384;
/** What no address, title or store of the browser may have. */
export const PERSON = {
  name: `Ana Luna ${MARKUP}`,
  phone: '+573005550101',
  id_number: '1020304050',
  city: 'Cali',
  consent_at: '2026-03-01',
  consent_text: `Autorizo ${MARKUP}`,
  consent_channel: 'app',
};

export const SHOWN: ApplicationReply = {
  ...{ id: SHOWN_ID, last_event: '7', created_at: AT, partner: PARTNER },
  ...{ status: 'in_review', decision: 'in_review', score: 55, policy_version: '1', above_limit: true },
  reasons: [
    {
      code: 'capacity_below_1_5',
      words: {
        en: 'The income is less than 1.5 times the estimated installment',
        es: 'El ingreso es menos de 1,5 veces la cuota estimada',
        pt: 'A renda é menos de 1,5 vez a parcela estimada',
      },
    },
    { code: 'unknown_code', words: null },
  ],
  criteria: CRITERIA.map((criterion, index) => {
    const points = POINTS[index]!;
    return {
      criterion,
      points,
      most: [30, 25, 15, 15, 15][index]!,
      lost: [30, 25, 15, 15, 15][index]! - points,
    };
  }),
  ...{ platform: MARKUP, currency: 'COP', income: 3_200_000, debt_amount: 6_000_000, num_debts: '1' },
  ...{ debt_age: 'lt6', prior_history: 'yes', messaging_optin: true, interested_at: AT, signed_at: null },
  corrections: [
    {
      ...{ id: 1, field: 'income', at: AT, before: 3_000_000, after: 3_200_000 },
      decided_with_old_value: true,
    },
    { ...{ id: 2, field: 'name', at: AT, before: null, after: null }, decided_with_old_value: false },
  ],
  ...{ withdrawable_until: null, payment_held_by: null },
  offer: {
    ...{ state: 'open', amount: '6000000.00', currency: 'COP', installment: '312500.00', months: 24 },
    ...{ total: '7500000.00', expires_at: '2026-03-09T10:00:00Z' },
  },
  debts: {
    ...{ told: '4000000', read: '1700000' },
    list: [
      { id: 7, told_by: 'applicant', balance: '4000000', as_of: '2026-03-01', overdue_since: null },
      { id: 8, told_by: 'document', balance: '1700000', as_of: '2026-02-28', overdue_since: null },
    ],
  },
  person: { initials: 'A. L.', phone: '…01', id_number: '…50', city: '***', fault: null },
  bands: { approved: 70, in_review: 30 },
  capacity: {
    ...{ installment: '312500.00', months: 24, unpriced: null, installment_by: 'contract' },
    ...{ income: 2_700_000, income_by: 'observed', share: 0.1157 },
  },
  chat: {
    takes_text: true,
    messages: [
      {
        id: '384',
        type: 'offer',
        status: 'read',
        reason: null,
        created_at: AT,
        changed_at: '2026-03-02T10:01:00Z',
      },
      {
        id: '385',
        type: 'reminder',
        status: 'failed',
        reason: 'unsendable',
        created_at: '2026-03-03T10:00:00Z',
        changed_at: AT,
      },
    ],
    conversation: {
      ...{ step: 'checking', held_by: 'operator', began_at: AT, ended_at: null },
      inputs: [
        { at: '2026-03-02T10:02:00Z', source: 'person', turn: 1, kind: 'interest' },
        { at: '2026-03-02T10:03:00Z', source: 'person', turn: 2, kind: 'text' },
        { at: '2026-03-02T10:04:00Z', source: 'person', turn: 3, kind: 'file' },
        { at: '2026-03-02T10:05:00Z', source: 'work', turn: 4, kind: 'income' },
      ],
      replies: [
        reply(1, 'read', { read_at: '2026-03-02T10:02:20Z' }),
        reply(2, 'delivered', { delivered_at: '2026-03-02T10:03:10Z' }),
        reply(3, 'sent', { sent_at: '2026-03-02T10:04:10Z' }),
      ],
    },
  },
  documents: [
    document(1, { content_type: 'image/png', state: 'received', reason: 'unknown_layout', bytes: 210_000 }),
    document(2, { content_type: 'application/pdf', state: 'accepted', reason: 'read', bytes: 1_400_000 }),
  ],
  observed_income: {
    ...{ checked_at: AT, outcome: 'adjusted', reason: 'same_decision', currency: 'COP', declared: 3_200_000 },
    ...{ observed: 2_700_000, months: 3, confidence: 0.92, new_score: 51, new_decision: 'in_review' },
  },
  timeline: [
    {
      ...{ ...HAPPENED, at: AT, by: { way: 'service', id: null, login: 'ventanilla' }, act: 'register' },
      ...{ to: 'in_review', reason: 'score 55, said by the service' },
    },
    { ...HAPPENED, at: '2026-03-02T10:02:00Z', by: APPLICANT, act: 'interested' },
    { ...HAPPENED, at: '2026-03-02T10:10:00Z', by: OPERATOR, act: 'pend', missing: ['explanation'] },
    {
      ...{
        ...HAPPENED,
        at: '2026-03-02T10:20:00Z',
        by: APPLICANT,
        act: 'pend_end',
        missing: ['explanation'],
      },
      end: 'answered',
    },
    {
      ...{ ...HAPPENED, at: '2026-03-02T10:30:00Z', by: { way: 'command_line', id: null, login: MARKUP } },
      ...{ act: 'free_phone', reason: MARKUP, second: { ...OPERATOR, login: 'tom.luz' } },
    },
  ],
  notes: [{ id: 1, at: '2026-03-02T11:00:00Z', by: BY, text: `Asked the partner.\n${MARKUP}` }],
  review: {
    state: 'waiting',
    due_at: '2026-03-04T10:00:00Z',
    claim: { by: BY, until: '2026-03-02T12:00:00Z' },
    pend: null,
  },
  proposal: {
    ...{
      id: 3,
      application_id: SHOWN_ID,
      act: 'reject',
      reason_code: 'insufficient_capacity',
      reason: MARKUP,
    },
    ...{ override: false, by: BY, at: AT, apply_at: '2026-03-02T10:00:10Z', state: 'declined' },
    ...{ needs_second: 'authority', second: BY, ended_at: AT, outcome: `ask for more ${MARKUP}` },
    returned_for: null,
  },
  contradicted: [
    { reason_code: 'income_verified', why: 'income_unconfirmed' },
    { reason_code: 'documents_invalid', why: 'no_document' },
  ],
};

export const NEIGHBOURS: NeighboursReply = {
  same_phone: {
    count: 2,
    applications: [
      {
        id: 256,
        partner: PARTNER,
        status: 'rejected',
        signed_at: null,
        created_at: '2026-01-02T10:00:00Z',
      },
      {
        id: 128,
        partner: PARTNER,
        status: 'pending_signature',
        signed_at: AT,
        created_at: '2025-11-02T10:00:00Z',
      },
    ],
  },
  same_id_number: {
    count: 100,
    applications: [
      {
        id: 256,
        partner: PARTNER,
        status: 'rejected',
        signed_at: null,
        created_at: '2026-01-02T10:00:00Z',
      },
    ],
  },
  same_city: {
    ...{ count: 3, looked_at: 2_500, is_whole: false },
    applications: [
      {
        id: 385,
        partner: PARTNER,
        status: 'in_review',
        signed_at: null,
        created_at: '2026-03-02T10:00:05Z',
      },
    ],
  },
};

/** One that waits for its applicant. */
export const PENDED: ApplicationReply = {
  ...SHOWN,
  id: 256,
  review: {
    ...{ state: 'pended', due_at: null, claim: null },
    pend: {
      ...{ application_id: 256, missing: ['income_statement', 'readable_copy'], by: BY, at: AT },
      ...{ ends_at: '2026-03-05T10:00:00Z', message: 'said', ended_at: null, end: null },
    },
  },
  proposal: null,
};

/** A line of the service. */
const LINE = { from: 'service', kind: 'reply', text: null, choices: [], file: null } satisfies Partial<
  RevealedReply['chat'][number]
>;

export const REVEALED: RevealedReply = {
  ...PERSON,
  corrections: [{ id: 2, before: 'Ana', after: `Eva ${MARKUP}` }],
  messages: [{ id: '384', text: `Hola Ana, tu saldo es $ 6.000.000 ${MARKUP}`, choices: ['Me interesa'] }],
  chat: [
    {
      ...LINE,
      at: '2026-03-02T10:02:00Z',
      from: 'applicant',
      turn: 1,
      kind: 'interest',
      text: 'Me interesa',
    },
    { ...LINE, at: '2026-03-02T10:02:10Z', turn: 1, text: `Hola ${MARKUP}`, choices: ['Sí', MARKUP] },
    {
      ...{ ...LINE, at: '2026-03-02T10:03:00Z', from: 'applicant', turn: 2, kind: 'text' },
      text: `Quiero saber más ${MARKUP}`,
    },
    {
      ...{ ...LINE, at: '2026-03-02T10:03:05Z', turn: 2, text: 'Este es el contrato.' },
      file: 'contract-1.pdf',
    },
    {
      ...{ ...LINE, at: '2026-03-02T10:04:00Z', from: 'applicant', turn: 3, kind: 'file' },
      file: `extracto ${MARKUP}.pdf`,
    },
    { ...LINE, at: '2026-03-02T10:04:05Z', turn: 3, text: 'Gracias, lo estamos leyendo.' },
  ],
  income: [
    {
      source: 'bank statement',
      currency: 'COP',
      months: [
        { month: '2025-12', amount: 2_650_000 },
        { month: '2026-01', amount: 2_700_000 },
        { month: '2026-02', amount: 3_400_000 },
      ],
    },
  ],
  debts: [
    { id: 7, creditor: 'Banco Azul', reference: '4711' },
    { id: 8, creditor: 'Nu', reference: null },
  ],
  asked: [
    {
      id: 7,
      kind: 'reconsideration',
      words: [{ at: '2026-03-03T09:00:00Z', text: `Ya pagué dos deudas ${MARKUP}` }],
    },
  ],
};

function reply(turn: number, status: 'sent' | 'delivered' | 'read', times: object) {
  const created_at = `2026-03-02T10:0${turn + 1}:05Z`;
  const never = { sent_at: created_at, delivered_at: null, read_at: null };
  return { turn, status, reason: null, created_at, ...never, ...times };
}

function document(
  id: number,
  given: { content_type: string; state: 'received' | 'accepted'; reason: string; bytes: number },
): ApplicationReply['documents'][number] {
  return { id, sha256: null, purpose: 'earnings', received_at: AT, decided_at: null, ...given };
}
