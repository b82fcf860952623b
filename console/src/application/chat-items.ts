/** What the chat shows, put together from its parts: messages that announce, inputs, replies and revealed texts. */
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';

type Chat = ApplicationReply['chat'];
type Conversation = NonNullable<Chat['conversation']>;
type Reply = Conversation['replies'][number];

/** What became of something that the service said; `at` is when it came so far. */
export interface Fate {
  readonly status: Reply['status'];
  readonly reason: string | null;
  readonly at: string;
}

export interface ChatItem {
  readonly key: string;
  readonly at: string;
  readonly from: 'applicant' | 'service' | 'message';
  /** null: it is not revealed, or is erased. */
  readonly text: string | null;
  /** What the applicant sent, as a code; of a message its type. */
  readonly kind: string | null;
  /** The name of the file that went along. */
  readonly file: string | null;
  readonly choices: readonly string[];
  /** null: the applicant said it. */
  readonly fate: Fate | null;
}

/** Everything in the order in which the applicant saw it. `revealed` has the texts; null: nobody revealed them. */
export function chatItems({ messages, conversation }: Chat, revealed: RevealedReply | null): ChatItem[] {
  const said = conversation === null ? [] : conversationItems(conversation, revealed);
  const texts = new Map(revealed?.messages.map((message) => [message.id, message]));
  const announced = messages.map(
    ({ id, type, status, reason, created_at, changed_at }): ChatItem => ({
      key: `message ${id}`,
      at: created_at,
      from: 'message',
      text: texts.get(id)?.text ?? null,
      kind: type,
      choices: texts.get(id)?.choices ?? [],
      file: null,
      fate: { status, reason, at: changed_at },
    }),
  );
  return merge(announced, said);
}

function conversationItems({ inputs, replies }: Conversation, revealed: RevealedReply | null): ChatItem[] {
  const byTurn = new Map(replies.map((reply) => [reply.turn, reply]));
  if (revealed !== null) {
    return revealed.chat.map(({ at, from, turn, kind, text, choices, file }, index): ChatItem => {
      const reply = from === 'service' && turn !== null ? byTurn.get(turn) : undefined;
      const fate = reply === undefined ? null : fateOf(reply);
      return { key: `line ${index}`, at, from, text, kind, choices, file, fate };
    });
  }
  const heard = inputs
    .filter(({ source }) => source === 'person')
    .map(({ at, turn, kind }, index) => ({
      place: turn ?? Number.POSITIVE_INFINITY,
      item: {
        key: `input ${index}`,
        at,
        from: 'applicant',
        text: null,
        kind,
        choices: [],
        file: null,
        fate: null,
      } as ChatItem,
    }));
  const answered = replies.map((reply) => ({
    // A turn answers what it heard, and the channel's clock is not the store's.
    place: reply.turn + 0.5,
    item: {
      key: `reply ${reply.turn}`,
      at: reply.created_at,
      from: 'service',
      text: null,
      kind: null,
      choices: [],
      file: null,
      fate: fateOf(reply),
    } as ChatItem,
  }));
  return [...heard, ...answered]
    .toSorted((a, b) => a.place - b.place || Date.parse(a.item.at) - Date.parse(b.item.at))
    .map(({ item }) => item);
}

function fateOf({ status, reason, created_at, sent_at, delivered_at, read_at }: Reply): Fate {
  return { status, reason, at: read_at ?? delivered_at ?? sent_at ?? created_at };
}

/** Puts what was announced before the first thing that was said later. What was said keeps its order. */
function merge(announced: readonly ChatItem[], said: readonly ChatItem[]): ChatItem[] {
  const items: ChatItem[] = [];
  let next = 0;
  for (const item of said) {
    while (next < announced.length && Date.parse(announced[next]!.at) <= Date.parse(item.at))
      items.push(announced[next++]!);
    items.push(item);
  }
  return [...items, ...announced.slice(next)];
}
