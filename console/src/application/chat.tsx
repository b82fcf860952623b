/** The chat as the applicant saw it; without its texts until they are revealed. */
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import bubbles from './chat.module.css';
import { type ChatItem, chatItems, type Fate } from './chat-items.ts';

interface ChatProps {
  readonly application: ApplicationReply;
  readonly revealed: RevealedReply | null;
}

export function Chat({ application, revealed }: ChatProps) {
  const { application: texts } = useTexts();
  const items = chatItems(application.chat, revealed);
  return (
    <Card title={texts.chat} beside={<Step application={application} />}>
      {items.length === 0 && <p>{texts.none}</p>}
      {items.length > 0 && revealed === null && <p className={card.quiet}>{texts.chatHidden}</p>}
      <Lines items={items} />
    </Card>
  );
}

/** The chat in one line, until somebody opens it or reveals its texts. */
export function FoldedChat({ application, revealed }: ChatProps) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const items = chatItems(application.chat, revealed);
  const last = items.at(-1);
  return (
    <Card title={texts.chat} beside={<Step application={application} />}>
      {last === undefined && <p>{texts.none}</p>}
      {last !== undefined && (
        <details key={revealed === null ? 'hidden' : 'revealed'} open={revealed !== null}>
          <summary>
            {texts.chatCount(items.length, format.time(last.at))}
            {revealed === null && <span className={card.quiet}>. {texts.chatHidden}</span>}
          </summary>
          <Lines items={items} isHidden={revealed === null} />
        </details>
      )}
    </Card>
  );
}

function Step({ application: { chat } }: Pick<ChatProps, 'application'>) {
  const { application: texts, codes } = useTexts();
  const { conversation } = chat;
  if (conversation === null) return null;
  return (
    <span className={card.quiet}>
      {texts.step}: {codes.places[conversation.step]}
      {conversation.held_by === 'operator' && `, ${texts.operatorSpeaks}`}
    </span>
  );
}

/** What is hidden takes a line each. */
function Lines({ items, isHidden = false }: { items: readonly ChatItem[]; isHidden?: boolean }) {
  return (
    <ol className={isHidden ? bubbles.hiddenLines : bubbles.lines}>
      {items.map((item) => (
        <Line key={item.key} item={item} />
      ))}
    </ol>
  );
}

function Line({ item: { at, from, text, kind, choices, file, fate } }: { item: ChatItem }) {
  const { application: texts, codes } = useTexts();
  const format = useFormat();
  const kinds: Readonly<Record<string, string>> = codes.inputKinds;
  const types: Readonly<Record<string, string>> = codes.messageTypes;
  const instead =
    from === 'applicant' ? (kinds[kind ?? ''] ?? kind) : from === 'message' ? types[kind!] : null;
  return (
    <li className={bubbles[from]}>
      <p className={bubbles.head}>
        <span>
          {from === 'message' ? texts.message : texts[from]}
          {from === 'message' && text !== null && `: ${instead}`}
        </span>{' '}
        <time dateTime={at}>{format.time(at)}</time>
      </p>
      {text !== null && <p className={bubbles.text}>{text}</p>}
      {text === null && file === null && <p className={bubbles.hidden}>{instead ?? texts.hiddenText}</p>}
      {file !== null && (
        <p className={bubbles.text}>
          {texts.file}: {file}
        </p>
      )}
      {choices.length > 0 && (
        <ul className={bubbles.choices} aria-label={texts.choices}>
          {choices.map((choice, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the choices of a message never move.
            <li key={index}>{choice}</li>
          ))}
        </ul>
      )}
      {fate !== null && <FateLine fate={fate} />}
    </li>
  );
}

const TICKS: Readonly<Partial<Record<Fate['status'], string>>> = {
  accepted: '✓',
  sent: '✓',
  delivered: '✓✓',
  read: '✓✓',
};

function FateLine({ fate: { status, reason, at } }: { fate: Fate }) {
  const { codes } = useTexts();
  const format = useFormat();
  const reasons: Readonly<Record<string, string>> = codes.messageReasons;
  const isBad = status === 'failed' || status === 'uncertain' || status === 'cancelled';
  return (
    <p className={isBad ? bubbles.bad : status === 'read' ? bubbles.read : bubbles.fate}>
      {TICKS[status] !== undefined && <span aria-hidden="true">{TICKS[status]} </span>}
      {codes.messageStatuses[status]}
      {reason !== null && ` (${reasons[reason] ?? reason})`}, {format.time(at)}
    </p>
  );
}
