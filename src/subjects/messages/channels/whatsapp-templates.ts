/**
 * Reads through WhatsApp's API which templates the account has, and whether they are approved (docs/brand.md, "At the
 * channel"). The source is the Graph API's page on `message_templates` of a WhatsApp Business Account.
 */
import type {
  ChannelTemplate,
  ReadTemplates,
  TemplateStatus,
  TemplatesRead,
} from '../../../domain/message/channel-templates.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { parseJson } from './whatsapp-answers.ts';
import { readApiError } from './whatsapp-errors.ts';
import { type GetResult, getOnce } from './whatsapp-media.ts';

interface AccountSettings {
  readonly apiUrl: string;
  readonly accountId: string;
  readonly accessToken: string;
}

/** Pages that show templates ask often, and the API bounds the calls of an account. */
const KEPT_MS = 60_000;
/** Of the whole reading: a person waits for it. */
const WITHIN_MS = 5_000;
const A_PAGE = 250;
/** An account has at most 6,000 templates. */
const MOST_PAGES = 40;
const MAX_PAGE_BYTES = 1_024 * 1_024;

const STATUSES: Readonly<Record<string, TemplateStatus>> = {
  APPROVED: 'approved',
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  REJECTED: 'rejected',
  PAUSED: 'paused',
  LIMIT_EXCEEDED: 'rejected',
  DISABLED: 'disabled',
  ARCHIVED: 'disabled',
  DELETED: 'disabled',
  PENDING_DELETION: 'disabled',
};

/** Reads the templates of an account, at most once a minute. What it tells has neither the token nor texts. */
export function whatsappTemplates(settings: AccountSettings, clock: Clock): ReadTemplates {
  let last: { readonly atMs: number; readonly read: Promise<TemplatesRead> } | null = null;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === null || nowMs - last.atMs >= KEPT_MS)
      last = { atMs: nowMs, read: readTemplates(settings, clock) };
    return last.read;
  };
}

async function readTemplates(settings: AccountSettings, clock: Clock): Promise<TemplatesRead> {
  const { apiUrl, accountId, accessToken } = settings;
  const headers = { Authorization: `Bearer ${accessToken}` };
  const signal = clock.timeout(WITHIN_MS);
  const templates: ChannelTemplate[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const url = new URL(`${apiUrl}/${accountId}/message_templates`);
    url.searchParams.set('fields', 'name,language,status');
    url.searchParams.set('limit', `${A_PAGE}`);
    if (after !== null) url.searchParams.set('after', after);
    const options = { clock, timeoutMs: WITHIN_MS, maxBytes: MAX_PAGE_BYTES };
    const page = pageOf(await getOnce(url, headers, options, signal));
    if ('reason' in page) return { kind: 'failed', reason: page.reason };
    templates.push(...page.templates);
    if (page.after === null) return { kind: 'read', templates };
    after = page.after;
  }
  return { kind: 'failed', reason: 'too_many' };
}

interface Page {
  readonly templates: readonly ChannelTemplate[];
  /** The cursor of the next page; null: this is the last one. */
  readonly after: string | null;
}

function pageOf(got: GetResult): Page | { readonly reason: string } {
  if (got.kind === 'failed') return { reason: got.reason };
  if (got.kind === 'too_large') return { reason: 'too_large' };
  const answer = parseJson(got.body.toString('utf8')) as {
    readonly data?: unknown;
    readonly paging?: { readonly next?: unknown; readonly cursors?: { readonly after?: unknown } };
    readonly error?: unknown;
  } | null;
  if (got.status !== 200 || !Array.isArray(answer?.data)) {
    const error = readApiError(answer?.error);
    return { reason: error === null ? `status_${got.status}` : `${error.code}` };
  }
  const { next, cursors } = answer.paging ?? {};
  // The address of the next page is not followed, because it is the API's own text.
  const after = typeof next === 'string' && typeof cursors?.after === 'string' ? cursors.after : null;
  return { templates: answer.data.flatMap(templateOf), after };
}

/** None where the API tells something that is no template's name. */
function templateOf(value: unknown): ChannelTemplate[] {
  const { name, language, status } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || !/^[a-z0-9_]{1,512}$/.test(name)) return [];
  if (typeof language !== 'string' || !/^[a-z]{2,3}(_[A-Z]{2,3})?$/.test(language)) return [];
  const known = typeof status === 'string' && Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  return [{ name, language, status: known ?? 'unknown' }];
}
