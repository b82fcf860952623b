/** What is kept of a person's message. Pure. */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { TapEvent } from '../../../domain/message/channel-event.ts';
import type { Heard } from '../../../domain/message/heard.ts';
import { asksToStop } from '../../../domain/message/opt-out-words.ts';
import { parseInterestPayload } from '../../../domain/message/outgoing-message.ts';
import { parsePayload } from '../rules/payload.ts';
import { type Meaning, meaningsOf } from '../rules/words.ts';
import type { SealedInput } from '../sql/inputs.ts';

/** The channel's own limits of a text and of a file's name. */
const MAX_TEXT_LENGTH = 4_096;
const MAX_NAME_LENGTH = 240;
/** The longest media type by RFC 6838. */
const MAX_TYPE_LENGTH = 255;

/** Meanings of a caption before which the file does not count: the person ends something. */
const ENDING: readonly Meaning[] = ['withdraw', 'wrong_person'];

/** A file whose caption opts out, withdraws or says that the number is wrong is the text of its caption. */
export function asWords(heard: Heard): Heard {
  const { event, optsOut } = heard;
  if (event.kind !== 'file') return heard;
  const { from, userId = null, messageId, contextMessageId, at, caption } = event;
  const body = caption ?? '';
  if (!optsOut && !ENDING.some((meaning) => meaningsOf(body).has(meaning))) return heard;
  return { ...heard, event: { kind: 'text', body, from, userId, messageId, contextMessageId, at } };
}

/** What is kept of a message, sealed. A button of another application is a button like any other. */
export function contentOf({ event, optsOut }: Heard, applicationId: ApplicationId): SealedInput {
  const channelId = event.messageId ?? null;
  switch (event.kind) {
    case 'tap': {
      // A word on the button: the text says what else it means.
      if (optsOut) return { kind: 'text', body: stopWordOf(event), channelId };
      const interest = parseInterestPayload(event.payload);
      if (interest !== null && interest === toApplicationId(applicationId))
        return { kind: 'interest', channelId };
      const isOurs = parsePayload(event.payload)?.applicationId === applicationId;
      return { kind: 'tap', payload: isOurs ? event.payload : '', channelId };
    }
    case 'text':
      return { kind: 'text', body: beginningOf(event.body, MAX_TEXT_LENGTH), channelId };
    case 'file': {
      const { media, mediaId, claimedType, claimedSha256, filename } = event;
      const [type, name] = [
        beginningOf(claimedType, MAX_TYPE_LENGTH),
        beginningOf(filename, MAX_NAME_LENGTH),
      ];
      return { kind: 'file', media, mediaId, claimedType: type, claimedSha256, filename: name, channelId };
    }
    case 'other':
      return { kind: 'other', what: event.what, channelId };
  }
}

function beginningOf<T extends string | null>(text: T, most: number): T {
  return (text?.slice(0, most).toWellFormed() ?? null) as T;
}

function stopWordOf({ payload, title }: TapEvent): string {
  return title !== null && asksToStop(title) ? title : payload;
}
