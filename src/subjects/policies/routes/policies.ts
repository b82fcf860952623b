/** Routes of the operator API about versions of the policy (D48, D51; docs/policy.md, "The console"). */

import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import { POLICY_CONFLICTS } from '../rules/proposal.ts';
import {
  confirmActivation,
  declineActivation,
  type PolicyDesk,
  proposeActivation,
  undoActivation,
} from '../uses/activation-proposals.ts';
import { checkDocument, saveDraft, withdrawAtDesk } from '../uses/drafts.ts';
import { PolicyRefusal } from '../uses/refusal.ts';
import { showCard, showPolicies } from '../uses/show-policies.ts';
import { answered } from './answered.ts';
import {
  Card,
  Confirmation,
  Decline,
  Draft,
  Findings,
  NewCheck,
  NewDraft,
  NewProposal,
  Policies,
  Proposal,
  VersionQuery,
  Withdrawal,
} from './forms.ts';

const Nothing = form({});

/** The routes. */
export function policyRoutes(desk: PolicyDesk): Route[] {
  return [...readingRoutes(desk), ...draftRoutes(desk), ...proposalRoutes(desk)];
}

function readingRoutes(desk: PolicyDesk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/policies',
      access: 'viewer',
      hasTag: true,
      summary:
        'All versions of the policy, the newest activations, and the newest proposals of one. The ETag is of the content.',
      reply: Policies,
      run: async ({ knownTags }) => {
        const { proposals, ...shown } = await showPolicies(desk);
        return tagged(inForm(Policies, { ...shown, proposals: proposals.map(told) }), knownTags);
      },
    }),
    route({
      method: 'GET',
      path: '/policies/version',
      access: 'viewer',
      failures: [404],
      summary:
        'A version or a draft: its document, its findings as they are now, and the texts of its reasons.',
      query: VersionQuery,
      reply: Card,
      run: ({ query: { version } }) =>
        answered(async () => ({ body: inForm(Card, await showCard(desk, version)) })),
    }),
  ];
}

function draftRoutes(desk: PolicyDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/policies/check',
      access: 'admin',
      summary: 'The findings of a document. It stores nothing.',
      body: NewCheck,
      reply: Findings,
      run: ({ body: { document } }) =>
        answered(async () => ({ body: inForm(Findings, { findings: await checkDocument(desk, document) }) })),
    }),
    route({
      method: 'POST',
      path: '/policies/drafts',
      access: 'admin',
      conflicts: POLICY_CONFLICTS,
      summary:
        'Saves a draft. `replaces` is the digest of the draft that was shown: 409 (`draft_changed`) where it is another one by now. A document with errors is refused (409, `refused`).',
      body: NewDraft,
      reply: Draft,
      run: ({ session, body }) =>
        answered(async () => ({ body: inForm(Draft, await saveDraft(desk, session.operatorId, body)) })),
    }),
    route({
      method: 'POST',
      path: '/policies/withdraw',
      access: 'admin',
      conflicts: POLICY_CONFLICTS,
      summary: 'Drops a draft, or withdraws a version that was never live.',
      body: Withdrawal,
      reply: Nothing,
      run: ({ session, body: { version } }) =>
        answered(async () => {
          await withdrawAtDesk(desk, session.operatorId, version);
          return { body: {} };
        }),
    }),
  ];
}

function proposalRoutes(desk: PolicyDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/policies/proposals',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      conflicts: POLICY_CONFLICTS,
      summary:
        'Proposes to activate a version, or an older one again. `accept` names each of its warnings. Another admin confirms it. It needs a sign-in of the last five minutes.',
      body: NewProposal,
      reply: Proposal,
      run: ({ session, body }) =>
        answered(async () => ({
          body: inForm(Proposal, told(await proposeActivation(desk, session.operatorId, body))),
        })),
    }),
    route({
      method: 'POST',
      path: '/policies/proposals/{id}/confirm',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      conflicts: POLICY_CONFLICTS,
      summary:
        'Confirms a proposal of another admin, which activates its version. `accept` names each of its warnings. Where something changed meanwhile nothing is activated, and the 409 says what. It needs a sign-in of the last five minutes.',
      body: Confirmation,
      reply: Proposal,
      run: ({ session, params, body: { accept } }) =>
        answered(async () => ({
          body: inForm(
            Proposal,
            told(await confirmActivation(desk, session.operatorId, proposalIdOf(params.id), accept)),
          ),
        })),
    }),
    route({
      method: 'POST',
      path: '/policies/proposals/{id}/decline',
      access: 'admin',
      failures: [404],
      conflicts: POLICY_CONFLICTS,
      summary: 'Declines a proposal of another admin with a reason.',
      body: Decline,
      reply: Proposal,
      run: ({ session, params, body: { reason } }) =>
        answered(async () => ({
          body: inForm(
            Proposal,
            told(await declineActivation(desk, session.operatorId, proposalIdOf(params.id), reason)),
          ),
        })),
    }),
    route({
      method: 'POST',
      path: '/policies/proposals/{id}/undo',
      access: 'admin',
      failures: [404],
      conflicts: POLICY_CONFLICTS,
      summary: 'Takes a proposal of one’s own back, until it is confirmed.',
      body: Nothing,
      reply: Proposal,
      run: ({ session, params }) =>
        answered(async () => ({
          body: inForm(
            Proposal,
            told(await undoActivation(desk, session.operatorId, proposalIdOf(params.id))),
          ),
        })),
    }),
  ];
}

function proposalIdOf(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw new PolicyRefusal(404, 'there is no such proposal');
  return Number(text);
}

type Told = Awaited<ReturnType<typeof proposeActivation>>;

/** What the form of a proposal is filled with. */
function told(proposal: Told) {
  const { maker, createdAt } = proposal;
  return { ...proposal, by: maker, at: createdAt };
}
