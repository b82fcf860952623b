/** The messages of a brand as a phone shows them, and what is known of their templates at the channel. */
import type { TemplateKind } from '../../../src/domain/message/notify.ts';
import type { BrandLookReply } from '../../../src/subjects/partners/routes/brand.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { useFormat } from '../format/format.ts';
import styles from './brand.module.css';
import { useBrandTexts } from './brand-texts.ts';

type Shown = NonNullable<BrandLookReply['shown']>;

export function Previews({ previews, kind }: Pick<Shown, 'previews'> & { kind: TemplateKind }) {
  const texts = useBrandTexts();
  return (
    <div className={styles.phones}>
      {previews
        .filter((one) => one.kind === kind)
        .map(({ language, text, buttons }) => (
          <figure key={language} className={styles.phone}>
            <figcaption>{texts.previewOf(texts.languages[language])}</figcaption>
            <div className={styles.message} lang={language}>
              <p className={card.text}>{text}</p>
              {buttons.length > 0 && (
                <ul>
                  {buttons.map((title) => (
                    <li key={title}>{title}</li>
                  ))}
                </ul>
              )}
            </div>
          </figure>
        ))}
    </div>
  );
}

export function Templates({ templates, channel }: Pick<Shown, 'templates' | 'channel'>) {
  const texts = useBrandTexts();
  const format = useFormat();
  const isPaused = templates.some(({ paused }) => paused !== null);
  return (
    <Card title={texts.templates}>
      <RowTable
        label={texts.templates}
        heads={[texts.template, texts.kind, texts.standing, texts.refusedOne]}
        rows={templates.map(({ kind, language, name, code, status, paused }) => ({
          id: `${kind} ${language}`,
          cells: [
            <code key="name">
              {name} ({code})
            </code>,
            texts.kinds[kind],
            status === null ? texts.notRead : texts.statuses[status],
            paused === null
              ? '—'
              : texts.pausedSince(format.time(paused.paused_at), reasonOf(paused.reason, texts)),
          ],
        }))}
      />
      <p className={card.quiet}>{texts.channelSays[channel]}</p>
      {isPaused && <p>{texts.resume}</p>}
    </Card>
  );
}

function reasonOf(code: string, texts: ReturnType<typeof useBrandTexts>): string {
  return texts.reasons[code as keyof typeof texts.reasons] ?? texts.code(code);
}
