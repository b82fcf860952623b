/** The views of applications beside the review queue, in the order of the page (docs/operators.md, "Views"). Pure. */
export const VIEWS = [
  'to_pay',
  'signed',
  'waiting_signature',
  'waiting_person',
  'pended',
  'review_asked',
  'decided',
] as const;
export type View = (typeof VIEWS)[number];
