/** How commands show conversations. */
import { optionalTime, withOffset } from '../../../ground/base/time.ts';
import { recordOf, shortTime } from '../../../program/cli/output.ts';
import { MASK } from '../../../program/cli/reveal.ts';
import { parsePayload } from '../rules/payload.ts';
import type { ConversationRow, ShownConversation, ShownInput } from '../uses/operate.ts';

/** A conversation for programs. */
export function conversationJson(row: ConversationRow) {
  return {
    id: Number(row.id),
    application_id: Number(row.application_id),
    step: row.place,
    held_by: row.held_by,
    handed_over: row.state?.handedOver ?? null,
    opted_out: row.state?.optedOut ?? false,
    wrong_person: row.state?.wrongPerson ?? false,
    language: row.language,
    turn: row.turn,
    began_at: withOffset(row.began_at),
    heard_at: optionalTime(row.heard_at),
    due_at: optionalTime(row.due_at),
    waits_since: optionalTime(row.waits_since),
    ended_at: optionalTime(row.ended_at),
  };
}

/** A conversation with what happened, for programs. */
export function shownJson({ row, inputs, replies, since }: ShownConversation, isRevealed: boolean) {
  return {
    ...conversationJson(row),
    key_revoked_at: optionalTime(since.keyRevokedAt),
    brand_changed: since.isBrandChanged,
    inputs: inputs.map((input) => ({
      at: withOffset(input.at),
      source: input.source,
      turn: input.turn,
      kind: input.content?.kind ?? null,
      detail: detailOf(input),
      text: textOf(input, isRevealed),
    })),
    replies: replies.map(({ turn, status, reason, createdAt, sentAt, deliveredAt, readAt }) => ({
      ...{ turn, status, reason, created_at: withOffset(createdAt), sent_at: optionalTime(sentAt) },
      ...{ delivered_at: optionalTime(deliveredAt), read_at: optionalTime(readAt) },
    })),
  };
}

/** A conversation with what happened, for people: inputs and replies by their turns. */
export function shownText({ row, inputs, replies, since }: ShownConversation, isRevealed: boolean): string {
  const head = recordOf([
    ['Application', row.application_id],
    ['Step', row.place],
    ['Held by', row.state?.handedOver ? `${row.held_by}: ${row.state.handedOver}` : row.held_by],
    ['Began', shortTime(row.began_at)],
    ['Heard', shortTime(row.heard_at)],
    ['Next', row.timer && `${row.timer}, ${shortTime(row.due_at)}`],
    ['Ended', shortTime(row.ended_at)],
    ['Phone', row.state?.wrongPerson ? "not the applicant's (wrong_person): nothing goes there" : null],
    ['Key', since.keyRevokedAt && `revoked ${shortTime(since.keyRevokedAt)}; the conversation goes on`],
    [
      'Brand',
      since.isBrandChanged ? 'changed since the conversation began, which goes on as it began' : null,
    ],
  ]);
  const lines = [
    ...inputs.map((input) => ({
      turn: input.turn ?? Number.MAX_SAFE_INTEGER,
      line: `${shortTime(input.at)}  ${input.source}: ${wordsOf(input, isRevealed)}`,
    })),
    ...replies.map(({ turn, createdAt, status, reason }) => ({
      turn: turn + 0.5,
      line: `${shortTime(createdAt)}  service: a reply, ${status}${reason === null ? '' : ` (${reason})`}`,
    })),
  ];
  return [head, '', ...lines.toSorted((a, b) => a.turn - b.turn).map(({ line }) => line)].join('\n');
}

function wordsOf(input: ShownInput, isRevealed: boolean): string {
  if (input.content === null) return 'cannot be read';
  return [input.content.kind, detailOf(input), textOf(input, isRevealed)]
    .filter((part) => part !== null)
    .join(' ');
}

/** What an input says in codes; null where its kind says all. Nothing of the person is in it. */
function detailOf({ content }: ShownInput): string | null {
  if (content?.isOfOtherPhone) return 'of another phone';
  switch (content?.kind) {
    case 'tap':
      return parsePayload(content.payload)?.choice ?? 'of another message';
    case 'file':
      return content.media;
    case 'other':
      return content.what;
    case 'status':
      return content.status;
    case 'operator':
      return content.act;
    case 'withdrawal_received':
      return `of ${content.day}${content.isLate ? ', late' : ''}`;
    case 'document':
      return typeof content.fate === 'string' ? content.fate : `refused ${content.fate.refused}`;
    case 'document_decided':
      return `${content.isUsable ? 'accepted' : 'rejected'} ${content.number}`;
    case 'income':
      return content.outcome;
    case 'source_step':
      return content.step;
    case 'code':
      return content.result;
    case 'offer':
      return content.offer === null ? 'none' : null;
    case 'contract':
    case 'signed_contract':
      return content.contract === null ? 'none' : null;
    default:
      return null;
  }
}

/** What the person wrote or sent; masked where nobody said why it is shown. */
function textOf({ content }: ShownInput, isRevealed: boolean): string | null {
  if (content?.kind !== 'text' && content?.kind !== 'file') return null;
  const text = content.kind === 'text' ? content.body : content.filename;
  return text === null || isRevealed ? text : MASK;
}
