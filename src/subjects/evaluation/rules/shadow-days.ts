/** How long a shadow runs. Pure. */

/** Days of a shadow that names none, and the most. */
export const DEFAULT_DAYS = 14;
export const MOST_DAYS = 90;
