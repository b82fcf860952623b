/** The routes of one application. */
import { withOffset } from '../../base/time.ts';
import { type Route, route } from '../../operator-api/route.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { noApplication } from '../uses/refusal.ts';
import { type RevealedApplication, reveal } from '../uses/reveal.ts';
import { lastEventOf, readForPage } from '../uses/show-application.ts';
import { answered, applicationIdOf, reasonOf } from './answered.ts';
import { applicationJson } from './application-json.ts';
import { Application, Revealed, type RevealedReply, RevealReason } from './forms.ts';

/** The routes; they show what `readForPage` and `reveal` read. */
export function applicationRoutes(desk: Desk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/applications/{id}',
      access: 'viewer',
      summary: 'One application without personal data. The ETag is its last event.',
      reply: Application,
      run: ({ params, session, knownTags }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          const tag = await lastEventOf(desk.database, id);
          if (tag !== null && knownTags.includes(tag)) return { status: 304, body: null, tag };
          const shown = tag && (await readForPage(actingAs(desk, session!.operatorId), id));
          if (!shown) throw noApplication();
          return { body: applicationJson(shown), tag: shown.lastEvent };
        }),
    }),
    route({
      method: 'POST',
      path: '/applications/{id}/reveal',
      access: 'reviewer',
      summary: 'The personal data of one application. The reading and its reason are recorded first.',
      body: RevealReason,
      reply: Revealed,
      run: ({ params, session, body }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          if ((await lastEventOf(desk.database, id)) === null) throw noApplication();
          const shown = await reveal(actingAs(desk, session!.operatorId), id, reasonOf(body.reason));
          return { body: revealedJson(shown) };
        }),
    }),
  ];
}

function revealedJson({ fields, chat, income }: RevealedApplication): RevealedReply {
  const text = (name: 'name' | 'phone' | 'id_number' | 'city') => fields[name] as string | null;
  return {
    ...{ name: text('name'), phone: text('phone'), id_number: text('id_number'), city: text('city') },
    chat: chat.map(({ at, choices, ...line }) => ({ at: withOffset(at), ...line, choices: [...choices] })),
    income:
      income?.map(({ source, currency, months }) => ({
        ...{ source, currency },
        months: months.map(({ month, amount }) => ({ month, amount: amount / 100 })),
      })) ?? null,
  };
}
