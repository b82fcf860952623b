/** What a channel says of the templates of its account (docs/brand.md, "At the channel"). Types and a list alone. */

/** `unknown`: the channel has a word for it that this service does not know. */
export const TEMPLATE_STATUSES = [
  ...(['approved', 'pending', 'rejected', 'paused', 'disabled', 'unknown'] as const),
] as const;
export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** A template in one language. */
export interface ChannelTemplate {
  readonly name: string;
  /** Such as es_CO. */
  readonly language: string;
  readonly status: TemplateStatus;
}

export type TemplatesRead =
  | { readonly kind: 'read'; readonly templates: readonly ChannelTemplate[] }
  /** The channel did not tell them; a code. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** There is no account to ask for. */
  | { readonly kind: 'not_asked' };

/** Reads the templates of the account. Never throws. */
export type ReadTemplates = () => Promise<TemplatesRead>;
