/** Routes of the inbox (docs/operators.md, "The inbox"). `uses/inbox.ts` does the work. */
import type { Static, TSchema } from 'typebox';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import type { FilesToSend } from '../../documents/uses/file-to-send.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import type { InboxState } from '../rules/inbox.ts';
import type { SpeakingDesk } from '../uses/desk-context.ts';
import {
  claimConversation,
  claimNextOfInbox,
  closeInInbox,
  giveBackFromInbox,
  handOverToInbox,
  type InboxCall,
  type InboxPlace,
  releaseConversation,
  remindInInbox,
  replyInInbox,
  sendFileInInbox,
  showInbox,
  showOfInbox,
} from '../uses/inbox.ts';
import { answered, applicationIdOf, claimerOf, reasonOf } from './answered.ts';
import { cursorOf, placeOf, wrongCursor } from './cursor.ts';
import {
  ClaimedConversation,
  Close,
  GiveBack,
  Inbox,
  InboxConversation,
  InboxQuery,
  MOST_CONVERSATIONS,
  MOST_FILE_REQUEST_BYTES,
  NewFile,
  NewReply,
} from './inbox-forms.ts';
import { Nothing } from './queue-forms.ts';

/** The routes; `openFiles` opens what takes files. */
export function inboxRoutes(desk: SpeakingDesk, openFiles: () => Promise<FilesToSend>): Route[] {
  return [
    ...readingRoutes(desk),
    ...claimRoutes(desk),
    ...actRoutes(desk),
    fileRoute({ ...desk, openFiles }),
  ];
}

function readingRoutes(desk: SpeakingDesk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/inbox',
      access: 'viewer',
      hasTag: true,
      summary:
        "The conversations that wait for a person, whose channel's window closes first, and then those whose window is closed; or those that an operator has answered. The ETag is of the content.",
      query: InboxQuery,
      reply: Inbox,
      run: ({ query: { state = 'waiting', cursor, limit = MOST_CONVERSATIONS }, knownTags }) =>
        answered(async () => {
          const after = cursor === undefined ? null : placeAfter(state, cursor);
          const page = await showInbox(desk, state, after, limit);
          const next = page.next && cursorAfter(state, page.next);
          return tagged(inForm(Inbox, { ...page, next }), knownTags);
        }),
    }),
    route({
      method: 'GET',
      path: '/conversations/{application_id}',
      access: 'viewer',
      failures: [404],
      hasTag: true,
      summary:
        'The newest conversation of an application, whoever holds it, without what was written. The ETag is of the content.',
      reply: InboxConversation,
      run: ({ params, knownTags }) =>
        answered(async () => {
          const shown = await showOfInbox(desk, applicationIdOf(params.application_id));
          return tagged(inForm(InboxConversation, shown), knownTags);
        }),
    }),
  ];
}

function claimRoutes(desk: SpeakingDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/inbox/claim-next',
      access: 'reviewer',
      summary:
        "Claims the conversation that waits, that nobody holds, and whose channel's window closes first.",
      headers: ['Idempotency-Key', 'Operator-Page'],
      body: Nothing,
      reply: ClaimedConversation,
      run: ({ idempotencyKey, ...call }) =>
        answered(async () => {
          const claimer = claimerOf(call);
          const id = await claimNextOfInbox(desk, claimer, idempotencyKey);
          const claim = id === null ? null : await claimConversation(desk, id, claimer);
          return { body: inForm(ClaimedConversation, { applicationId: id, claim }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/conversations/{application_id}/claim',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Claims a conversation that operators hold, or renews the claim. 409 tells who has it, until when.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: ClaimedConversation,
      run: ({ params, ...call }) =>
        answered(async () => {
          const id = applicationIdOf(params.application_id);
          const claim = await claimConversation(desk, id, claimerOf(call));
          return { body: inForm(ClaimedConversation, { applicationId: id, claim }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/conversations/{application_id}/release',
      access: 'reviewer',
      failures: [404],
      summary:
        'Gives a conversation back to the other operators. Where somebody else has it, nothing changes; where another page of the operator uses it, that one keeps it.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: Nothing,
      run: ({ params, ...call }) =>
        answered(async () => {
          await releaseConversation(desk, applicationIdOf(params.application_id), claimerOf(call));
          return { body: {} };
        }),
    }),
  ];
}

function actRoutes(desk: SpeakingDesk): Route[] {
  return [
    actRoute(desk, 'messages', {
      summary:
        'Sends a text to the person, within 24 hours of their last message. It needs the claim, or takes it. An Idempotency-Key makes a repetition count once.',
      body: NewReply,
      act: (call, { text }) => replyInInbox(desk, call, text),
    }),
    actRoute(desk, 'remind', {
      summary:
        "Sends the reminder's template, once after each message of the person, where the 24 hours are over. It needs the claim, or takes it.",
      body: Nothing,
      act: (call) => remindInInbox(desk, call),
    }),
    actRoute(desk, 'hand-over', {
      summary: 'Lets an operator speak: the service is silent. Claims the conversation.',
      body: Nothing,
      act: (call) => handOverToInbox(desk, call),
    }),
    actRoute(desk, 'give-back', {
      summary: 'Lets the service go on, at the step where the conversation stands, or at an earlier one.',
      body: GiveBack,
      act: (call, { step }) => giveBackFromInbox(desk, call, step ?? null),
    }),
    actRoute(desk, 'close', {
      summary: 'Ends the conversation. The reason is recorded.',
      body: Close,
      act: (call, { reason }) => closeInInbox(desk, call, reasonOf(reason)),
    }),
  ];
}

function fileRoute(desk: SpeakingDesk & { readonly openFiles: () => Promise<FilesToSend> }): Route {
  return actRoute(desk, 'files', {
    summary:
      'Sends a file to the person, within 24 hours of their last message: a PDF of up to 10 MB, or a JPEG or PNG of up to 5 MB. Otherwise as a text.',
    body: NewFile,
    maxBodyBytes: MOST_FILE_REQUEST_BYTES,
    act: (call, { filename, content, text = '' }) =>
      sendFileInInbox(desk, call, { filename, text, bytes: bytesOf(content) }),
  });
}

/** Throws `OperatorError` if the text is no base64. */
function bytesOf(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new OperatorError('content must be base64');
  return bytes;
}

/** The route of an act on a conversation, which answers with what the conversation is then. */
function actRoute<Body extends TSchema>(
  desk: SpeakingDesk,
  name: string,
  {
    summary,
    body: form,
    maxBodyBytes,
    act,
  }: {
    readonly summary: string;
    readonly body: Body;
    readonly maxBodyBytes?: number;
    readonly act: (call: InboxCall, body: Static<Body>) => Promise<void>;
  },
): Route {
  return route({
    method: 'POST',
    path: `/conversations/{application_id}/${name}`,
    access: 'reviewer',
    failures: [404],
    conflicts: CONFLICTS,
    summary,
    headers: ['Idempotency-Key', 'Operator-Page'],
    body: form,
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
    reply: InboxConversation,
    run: ({ params, body, idempotencyKey: key, ...call }) =>
      answered(async () => {
        const id: ApplicationId = applicationIdOf(params.application_id);
        await act({ id, claimer: claimerOf(call), key }, body);
        return { body: inForm(InboxConversation, await showOfInbox(desk, id)) };
      }),
  });
}

// The second part: the cursor of a page. A list has two sides: those whose window is open, and those whose is closed.

const SIDES = { open: false, closed: true } as const;

const sideOf = (state: InboxState, side: keyof typeof SIDES) => `inbox ${state} ${side}`;

function cursorAfter(state: InboxState, { isClosed, heard, id }: InboxPlace): string {
  return cursorOf(sideOf(state, isClosed ? 'closed' : 'open'), { key: heard, id });
}

function placeAfter(state: InboxState, cursor: string): InboxPlace {
  const isKey = (key: unknown) => key === null || Number.isSafeInteger(key);
  for (const side of keysOf(SIDES)) {
    const place = placeOf(sideOf(state, side), cursor, isKey);
    if (place !== null) return { isClosed: SIDES[side], heard: place.key, id: place.id };
  }
  throw wrongCursor();
}
