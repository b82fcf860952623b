/** The routes of one application. */
import { withOffset } from '../../../ground/base/time.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { keyedRequest } from '../uses/note-reveal.ts';
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
      failures: [404],
      hasTag: true,
      summary: 'One application without personal data. The ETag is its last event.',
      reply: Application,
      run: ({ params, session, knownTags }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          const tag = await lastEventOf(desk.database, id);
          if (tag !== null && knownTags.includes(tag)) return { status: 304, body: null, tag };
          if (tag === null) throw noApplication();
          const { operatorId } = session!;
          const shown = await readForPage(actingAs(desk, operatorId), operatorId, { id, lastEvent: tag });
          return { body: applicationJson(shown), tag: shown.lastEvent };
        }),
    }),
    route({
      method: 'POST',
      path: '/applications/{id}/reveal',
      access: 'reviewer',
      failures: [404],
      summary: 'The personal data of one application. The reading and its reason are recorded first.',
      headers: ['Idempotency-Key'],
      body: RevealReason,
      reply: Revealed,
      run: ({ params, session, body, idempotencyKey }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          if ((await lastEventOf(desk.database, id)) === null) throw noApplication();
          const [by, reason] = [session!.operatorId, reasonOf(body.reason)];
          const request = keyedRequest(by, idempotencyKey, ['reveal', id, reason]);
          const shown = await reveal(actingAs(desk, by), id, { reason, request });
          return { body: revealedJson(shown) };
        }),
    }),
  ];
}

function revealedJson({ fields, messages, chat, income }: RevealedApplication): RevealedReply {
  const text = (name: 'name' | 'phone' | 'id_number' | 'city') => fields[name] as string | null;
  return {
    ...{ name: text('name'), phone: text('phone'), id_number: text('id_number'), city: text('city') },
    messages: messages.map(({ choices, ...message }) => ({ ...message, choices: [...choices] })),
    chat: chat.map(({ at, choices, ...line }) => ({ at: withOffset(at), ...line, choices: [...choices] })),
    income:
      income?.map(({ source, currency, months }) => ({
        ...{ source, currency },
        months: months.map(({ month, amount }) => ({ month, amount: amount / 100 })),
      })) ?? null,
  };
}
