/** Routes for admins: the lead's view, and second looks (docs/operators.md, "The lead's view and second looks"). */

import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged, tagOf } from '../../../wire/operator/tagged.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs } from '../uses/desk-context.ts';
import { AGES, readLead, type ShownLead } from '../uses/lead.ts';
import { drawnFor, type LookingDesk, look, noLook, withScores } from '../uses/second-looks.ts';
import { answered } from './answered.ts';
import { Lead, LeadQuery, type LeadReply, NewLook, SecondLooks } from './work-forms.ts';

const DEFAULT_DAYS = 7;

/** The routes. */
export function leadRoutes(desk: LookingDesk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/lead',
      access: 'admin',
      hasTag: true,
      summary:
        'Decisions by hour, the age of what waits, decisions against the score, and second looks. The ETag is of the content.',
      query: LeadQuery,
      reply: Lead,
      run: async ({ query: { days = DEFAULT_DAYS }, session, knownTags }) =>
        tagged(leadOf(await readLead(desk.database, days, session.operatorId), desk.lookShare), knownTags),
    }),
    route({
      method: 'GET',
      path: '/second-looks',
      access: 'admin',
      hasTag: true,
      summary:
        'The oldest 100 decisions that were drawn for a second look which the operator may take. The ETag is of the decisions.',
      reply: SecondLooks,
      run: async ({ session, knownTags }) => {
        const drawn = await drawnFor(desk.database, session.operatorId);
        // The tag leaves scores out: a score never changes, and reading a hundred of them costs more than the rest.
        const tag = tagOf(drawn);
        if (knownTags.includes(tag)) return { status: 304, body: null, tag };
        const looks = await withScores(desk.database, drawn);
        const secondLooks = looks.map((one) => ({ ...one, proposal: one.proposalId }));
        return { body: inForm(SecondLooks, { secondLooks }), tag };
      },
    }),
    route({
      method: 'POST',
      path: '/second-looks/{proposal}',
      access: 'admin',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Says whether the looker would have decided so too. Who made or confirmed the decision gets 403.',
      body: NewLook,
      reply: form({}),
      run: ({ params, session, body }) =>
        answered(async () => {
          const { operatorId } = session;
          const asked = { proposalId: proposalOf(params.proposal), ...body };
          await look(actingAs(desk, operatorId), operatorId, asked);
          return { body: {} };
        }),
    }),
  ];
}

function proposalOf(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw noLook();
  return Number(text);
}

function leadOf({ days, hours, backlog, by, looks }: ShownLead, share: number): LeadReply {
  const reviewers = [...Map.groupBy(by, ({ id }) => id).values()].map((some) => ({
    by: some[0]!,
    decisions: some.reduce((sum, { decisions }) => sum + decisions, 0),
    overrides: some.reduce((sum, { againstScore }) => sum + againstScore, 0),
  }));
  return inForm(Lead, {
    ...backlog,
    days,
    hours,
    backlog: backlog.buckets.map((count, n) => ({ to: AGES[n] ?? null, count })),
    reviewers,
    overrides: by
      .filter(({ againstScore }) => againstScore > 0)
      .map((one) => ({ ...one, by: one, count: one.againstScore })),
    secondLooks: { share, ...looks },
  });
}
