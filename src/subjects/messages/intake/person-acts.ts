/** What a person's act at the channel means: an interest, an opt-out, or who the person is. */

import type { Heard } from '../../../domain/message/heard.ts';
import { asksToStop } from '../../../domain/message/opt-out-words.ts';
import { parseInterestPayload } from '../../../domain/message/outgoing-message.ts';
import { channelIndexOf } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { KnownUser } from '../sql/channel-users.ts';
import type { InterestTap } from '../sql/interest.ts';
import type { OptOutChange } from '../sql/suppressions.ts';
import type { KnownEvent, PersonEvent } from './persons.ts';

/** The person behind an event, where both the phone and the channel's own id are known. */
export function knownUserOf({ userIndex, phoneIndex }: KnownEvent): KnownUser[] {
  return userIndex === null || phoneIndex === null ? [] : [{ userIndex, phoneIndex }];
}

/** The interest that an event tells. */
export function interestOf({ event, phoneIndex, contextIndex }: KnownEvent): InterestTap[] {
  const applicationId = event.kind === 'tap' ? parseInterestPayload(event.payload) : null;
  return applicationId === null ? [] : [{ applicationId, phoneIndex, contextIndex, at: event.at }];
}

/** What the listeners get of an event; nothing of the channel's own setting. */
export function heardOf(vault: Vault, { event, phoneIndex, userIndex, contextIndex }: KnownEvent): Heard[] {
  if (event.kind === 'preference') return [];
  const { messageId = null } = event;
  return [
    {
      event,
      messageIndex: messageId === null ? null : channelIndexOf(vault, messageId),
      phoneIndex,
      userIndex,
      contextIndex,
      optsOut: stopOf(event) !== null,
    },
  ];
}

/** An opt-out or its end, with what is known of the person. */
interface PersonOptOutChange extends Omit<OptOutChange, 'phoneIndex'> {
  readonly phoneIndex: KnownEvent['phoneIndex'];
  readonly userIndex: KnownEvent['userIndex'];
}

/** The opt-out that an event tells, or its end. */
export function optOutChangeOf({ event, phoneIndex, userIndex }: KnownEvent): PersonOptOutChange[] {
  const change = stopOf(event);
  return change === null ? [] : [{ ...change, phoneIndex, userIndex, at: event.at }];
}

/** A person opts out by writing the word, by a button with the word on it, or by the channel's own setting. */
export function stopOf(event: PersonEvent): Pick<OptOutChange, 'stops' | 'source'> | null {
  switch (event.kind) {
    case 'preference':
      return { stops: event.wants === 'stop', source: 'channel' };
    case 'text':
      return asksToStop(event.body) ? { stops: true, source: 'keyword' } : null;
    case 'tap':
      return asksToStop(event.payload) || asksToStop(event.title ?? '')
        ? { stops: true, source: 'keyword' }
        : null;
    case 'file':
      return asksToStop(event.caption ?? '') ? { stops: true, source: 'keyword' } : null;
    case 'other':
      return null;
  }
}
