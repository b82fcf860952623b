/** The variables of providers of incomes; without them documents and operators tell alone. */
import type { Setting } from '../base/setting.ts';

/** The address of Belvo's API without a slash at its end; null: Belvo is not asked. */
export const BELVO_URL: Setting<string | null> = {
  variable: 'BELVO_URL',
  read: (text) => {
    if (text === undefined) return null;
    if (!/^https:\/\/[^/]/.test(text)) throw new RangeError('must begin with https://');
    return text.replace(/\/+$/, '');
  },
};

const secret = (variable: string): Setting<string> => ({
  variable,
  read: (text = '') => {
    if (!/^[\x21-\x7e]*$/.test(text)) throw new RangeError('must be printable ASCII without spaces');
    return text;
  },
});

/** The two parts of Belvo's key. */
export const BELVO_SECRET_ID = secret('BELVO_SECRET_ID');
export const BELVO_SECRET_PASSWORD = secret('BELVO_SECRET_PASSWORD');
