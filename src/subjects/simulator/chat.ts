/** A chat as the simulator's page shows it: a phone with all that was said on it. */
import type { ApplicationId, BlindIndex, MessageId } from '../../domain/application/ids.ts';
import type { MessageType } from '../../domain/message/notify.ts';
import { parseInterestPayload } from '../../domain/message/outgoing-message.ts';
import type { ReplyBody, ReplyId } from '../../domain/message/reply.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Simulator } from './channel.ts';
import { type ChatMessage, composeChatMessage } from './chat-messages.ts';
import type { ReceivedCode } from './codes.ts';
import type { ChatReply } from './replies.ts';
import type { Said, SaidStatus } from './said.ts';

/** A message as the phone shows it. `messageId` exceeds the numbers of JavaScript. */
export interface PhoneMessage {
  readonly messageId: MessageId;
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly status: ChatMessage['status'];
  readonly createdAt: Date;
  readonly text: string;
  readonly buttons: readonly { readonly title: string; readonly isInterest: boolean }[];
  readonly interestedAt: Date | null;
}

/** A reply as the phone shows it. */
export interface PhoneReply extends Omit<ReplyBody, 'document'> {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly status: ChatReply['status'];
  readonly at: Date;
  /** `isThere`: the simulator still has the file. */
  readonly document: {
    readonly mediaId: string;
    readonly filename: string;
    readonly isThere: boolean;
  } | null;
}

/** What the owner of the phone said. */
export type PhoneSaid = Omit<Said, 'phone'> & { readonly status: SaidStatus };

/** A phone and its messages. */
export interface Chat {
  /** Equal for equal phones; the phone cannot be read from it. */
  readonly id: BlindIndex<'phone'>;
  readonly phone: Phone;
  /**
   * `name`, `partner` and `suppressedAt` are those of the newest message. `name` and `partner` are null for a phone
   * that wrote and has neither a message nor a reply.
   */
  readonly name: string | null;
  readonly partner: string | null;
  /** When the phone was suppressed; null if it is not. */
  readonly suppressedAt: Date | null;
  /** The channel's 24 hours are over, because a person said so on the page. */
  readonly windowIsOver: boolean;
  /** The service is typing an answer. */
  readonly isTyping: boolean;
  /** Each oldest first. */
  readonly messages: readonly PhoneMessage[];
  readonly replies: readonly PhoneReply[];
  readonly said: readonly PhoneSaid[];
  /** On the person's second phone. */
  readonly codes: readonly ReceivedCode[];
}

/** Who a chat is with. */
export type ChatHead = Pick<Chat, 'phone' | 'name' | 'partner' | 'suppressedAt'>;

/** Makes a chat; `messages` and `replies` are newest first. */
export function chatOf(
  simulator: Simulator,
  id: BlindIndex<'phone'>,
  head: ChatHead,
  messages: readonly ChatMessage[],
  replies: readonly ChatReply[],
): Chat {
  return {
    id,
    ...head,
    windowIsOver: simulator.windowsOver.has(head.phone),
    isTyping: simulator.said.isTyping(head.phone),
    messages: messages.flatMap((message) => phoneMessageOf(message) ?? []).reverse(),
    replies: replies.map((reply) => phoneReplyOf(simulator, reply)).reverse(),
    said: simulator.said.of(head.phone).map(({ phone: _, ...said }) => said),
    codes: simulator.codes.of(head.phone),
  };
}

/** null if the message's brand or currency cannot make a text. */
function phoneMessageOf(message: ChatMessage): PhoneMessage | null {
  const { messageId, applicationId, type, status, createdAt, interestedAt } = message;
  const composed = composeChatMessage(message);
  if (composed === null) return null;
  const { text, buttons } = composed;
  return {
    messageId,
    applicationId,
    type,
    status,
    createdAt,
    text,
    buttons: buttons.map(({ title, payload }) => ({
      title,
      isInterest: parseInterestPayload(payload) !== null,
    })),
    interestedAt,
  };
}

function phoneReplyOf(
  { files }: Simulator,
  { replyId, applicationId, status, at, content }: ChatReply,
): PhoneReply {
  const { readMessageId: _, document, ...body } = content;
  const isThere = document !== undefined && files.get(document.mediaId) !== null;
  const shown = document === undefined ? null : { ...document, isThere };
  return { replyId, applicationId, status, at, ...body, document: shown };
}

/** When something was said last. */
export function newestTimeOf({ messages, replies, said }: Chat): number {
  const times = [messages.at(-1)?.createdAt, replies.at(-1)?.at, said.at(-1)?.at];
  return Math.max(...times.map((time) => time?.getTime() ?? 0));
}
