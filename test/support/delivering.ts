/** The variables of a service that delivers. Such a service tries its reader of documents at the start: a process. */
export const DELIVERING = { DELIVERY: 'on' } as const;
