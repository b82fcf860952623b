/**
 * The variables of providers of incomes (docs/income.md, "Sources"). Without them incomes come only from documents and
 * operators.
 */
import type { Setting } from '../../ground/base/setting.ts';

const address = (variable: string): Setting<string | null> => ({
  variable,
  read: (text) => {
    if (text === undefined) return null;
    if (!/^https:\/\/[^/]/.test(text)) throw new RangeError('must begin with https://');
    return text.replace(/\/+$/, '');
  },
});

/** The address of Belvo's API without a slash at its end; null: Belvo is not used. */
export const BELVO_URL = address('BELVO_URL');
/** Where a person goes after connecting an account, such as the chat (`https://wa.me/...`); null: nowhere. */
export const BELVO_RETURN_URL = address('BELVO_RETURN_URL');

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
