/** The variables that only the messages read (docs/messages.md, "Limits"). */
import { resolve } from 'node:path';
import { readLimit, type Setting } from '../../ground/base/setting.ts';

/** The most messages that all workers together send in a second; null: no limit. */
export const MESSAGES_PER_SECOND: Setting<number | null> = {
  variable: 'MESSAGES_PER_SECOND',
  read: (text = '80') => readLimit(text),
};

/** The most recipients in any 24 hours; null: no limit. */
export const RECIPIENTS_PER_DAY: Setting<number | null> = {
  variable: 'RECIPIENTS_PER_DAY',
  read: (text = 'none') => readLimit(text),
};

/** The most messages to one phone in any 24 hours (D42). */
export const MESSAGES_PER_PHONE: Setting<number> = {
  variable: 'MESSAGES_PER_PHONE',
  read: (text = '3') => readPerPhone(text),
};

/** The most `rejected` messages to one phone in any 24 hours (D42). */
export const REJECTIONS_PER_PHONE: Setting<number> = {
  variable: 'REJECTIONS_PER_PHONE',
  read: (text = '1') => readPerPhone(text),
};

/** The absolute path of a file with contact windows; null: the built-in ones. */
export const CONTACT_WINDOWS_FILE: Setting<string | null> = {
  variable: 'CONTACT_WINDOWS_FILE',
  read: (text) => (text === undefined ? null : resolve(text)),
};

/** The store remembers this many messages of a phone (`recipients`). */
const MOST_PER_PHONE = 20;

function readPerPhone(text: string): number {
  if (!/^[1-9]\d?$/.test(text) || Number(text) > MOST_PER_PHONE) {
    throw new RangeError(`must be a whole number from 1 to ${MOST_PER_PHONE}`);
  }
  return Number(text);
}
