/**
 * The schema of each request of the simulator's page, by the last part of its path (docs/messages.md, "The simulator").
 * Pure. Loads 680 modules of `typebox`, so this file is loaded only when somebody opens the page.
 */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import type { BlindIndex, MessageId } from '../../domain/application/ids.ts';
import { MEDIA_KINDS, OTHER_MESSAGES } from '../../domain/message/channel-event.ts';
import type { ReplyId } from '../../domain/message/reply.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import { MAX_DELAY_MS } from './faults.ts';
import { MADE_UP } from './made-up-files.ts';

const strict = { additionalProperties: false };
const Id = Type.Unsafe<MessageId>(Type.String({ pattern: '^[1-9][0-9]{0,16}$' }));
const Reply = Type.Unsafe<ReplyId>(Type.String({ pattern: '^[1-9][0-9]{0,17}$' }));
const E164 = Type.Unsafe<Phone>(Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$' }));
const ChatId = Type.Unsafe<BlindIndex<'phone'>>(Type.String({ pattern: '^[0-9a-f]{16}$' }));
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Place = Type.Integer({ minimum: 0, maximum: 9 });
const oneOf = <T extends string>(words: readonly T[]) => Type.Unsafe<T>(Type.Enum([...words]));
const nullable = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()]);

const FORMS = {
  chats: Type.Object(
    { phone: Type.Optional(Type.String({ maxLength: 64 })), chat: Type.Optional(ChatId) },
    strict,
  ),
  tap: Type.Object({ messageId: Id, button: Place }, strict),
  choose: Type.Object({ replyId: Reply, choice: Place }, strict),
  open: Type.Object({ messageId: Id }, strict),
  'open-reply': Type.Object({ replyId: Reply }, strict),
  text: Type.Object({ phone: E164, body: Type.String({ minLength: 1, maxLength: 1_000 }) }, strict),
  file: Type.Object(
    {
      phone: E164,
      mediaId: Type.String({ minLength: 1, maxLength: 100 }),
      media: oneOf(MEDIA_KINDS),
      filename: nullable(240),
      caption: nullable(1_000),
    },
    strict,
  ),
  'made-up': Type.Object({ phone: E164, what: oneOf(MADE_UP) }, strict),
  other: Type.Object({ phone: E164, what: oneOf(OTHER_MESSAGES) }, strict),
  window: Type.Object({ phone: E164, isOver: Type.Boolean() }, strict),
  release: Type.Object({ messageId: Type.Optional(Id) }, strict),
  faults: Type.Object(
    {
      failShare: Share,
      delayMs: Type.Integer({ minimum: 0, maximum: MAX_DELAY_MS }),
      lostShare: Share,
      vanishedShare: Share,
      doubledShare: Share,
      reorderedShare: Share,
      unheardShare: Share,
      goneShare: Share,
    },
    strict,
  ),
};

export type FormName = keyof typeof FORMS;
export type Form<Name extends FormName> = Static<(typeof FORMS)[Name]>;

/** Whether a query or a body has the form. */
export function hasForm<Name extends FormName>(name: Name, value: unknown): value is Form<Name> {
  return Value.Check(FORMS[name], value);
}
