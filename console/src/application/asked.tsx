/** What the person wrote to ask for a review of the refusal or for their data, once it is revealed. */
import type { RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

export function Asked({ revealed }: { revealed: RevealedReply | null }) {
  const { reconsiderations: texts } = useTexts();
  const format = useFormat();
  const asked = (revealed?.asked ?? []).filter(({ words }) => words.length > 0);
  if (asked.length === 0) return null;
  return (
    <Card title={texts.wrote}>
      {asked.map(({ id, kind, words }) => (
        <section key={id} aria-label={texts.kinds[kind]}>
          <h3>{texts.kinds[kind]}</h3>
          <ol className={card.list}>
            {words.map(({ at, text }) => (
              <li key={`${at} ${text}`}>
                <p className={card.quiet}>
                  <time dateTime={at}>{format.time(at)}</time>
                </p>
                <p className={card.text}>{text}</p>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </Card>
  );
}
