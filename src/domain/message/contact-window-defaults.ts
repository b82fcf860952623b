/** The default contact windows, for countries that an operator's file does not name. */
import type { WindowRules } from './contact-window.ts';
import { MESSAGE_TYPES } from './notify.ts';

const WORKDAY = ['07:00-19:00'];

/**
 * Colombia, Ley 2300 of 2023: advertising and collection messages Monday to Friday 07:00 to 19:00, Saturday
 * 08:00 to 15:00, never on Sundays or public holidays. Every other country is always open.
 */
export const DEFAULT_WINDOWS: WindowRules = {
  CO: {
    zones: ['America/Bogota'],
    hours: {
      monday: WORKDAY,
      tuesday: WORKDAY,
      wednesday: WORKDAY,
      thursday: WORKDAY,
      friday: WORKDAY,
      saturday: ['08:00-15:00'],
      sunday: [],
    },
    closed_on_public_holidays: true,
    closed_dates: [],
    open_dates: {},
    // Offers and approvals advertise a product and name a debt. A rejection may do either, and it can wait until the
    // morning without harm.
    message_types: MESSAGE_TYPES,
  },
};
