/** The variables that only the reconsiderations read: the terms of answers (D50; docs/reconsiderations.md, "Terms"). */
import type { Setting } from '../../ground/base/setting.ts';

const days =
  (standard: string) =>
  (text = standard) => {
    const read = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    if (read < 1 || read > 90) throw new RangeError('must be a whole number of working days from 1 to 90');
    return read;
  };

/** Within how many working days a person of the desk answers whoever asks for a review of a refusal. */
export const RECONSIDERATION_DAYS: Setting<number> = { variable: 'RECONSIDERATION_DAYS', read: days('10') };

/** The same for a request for one's data, in countries without a legal term of their own (`DATA_TERMS`). */
export const DATA_REQUEST_DAYS: Setting<number> = { variable: 'DATA_REQUEST_DAYS', read: days('10') };
