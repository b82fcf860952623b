/** The variables that the conversations alone read. */
import { readLimit, type Setting } from '../../ground/base/setting.ts';

/** The channel sends a message again for a week at most; its id must still be known then. */
const LEAST_DAYS = 30;

/** The days after its end for which the chat of a conversation is kept; null: as long as its application. */
export const CONVERSATION_DAYS: Setting<number | null> = {
  variable: 'CONVERSATION_DAYS',
  read: (text = 'none') => {
    const days = readLimit(text);
    if (days !== null && days < LEAST_DAYS) {
      throw new RangeError(`must be a whole number, ${LEAST_DAYS} or more, or the word none`);
    }
    return days;
  },
};
