/** The text of a PDF beside the income: text alone, because an applicant's PDF is a program for its viewer. */
import type { DocumentFile } from '../api/work.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

interface DocumentLinesProps {
  readonly lines: NonNullable<DocumentFile['lines']>;
  readonly counted: DocumentFile['counted'];
  readonly name: string;
}

export function DocumentLines({ lines, counted, name }: DocumentLinesProps) {
  const { application: texts } = useTexts();
  const format = useFormat();
  return (
    <>
      <p className={card.quiet}>{counted === null ? texts.uncountedNote : texts.linesNote(counted)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard. */}
      <section className={styles.text} aria-label={`${texts.textOf} ${name}`} tabIndex={0}>
        {lines.map(({ text, month }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a document stay in their order.
          <p key={index}>
            {month === null ? text : <mark>{text}</mark>}
            {month !== null && (
              <small>
                {' '}
                {texts.countedFor} {format.month(month)}
              </small>
            )}
          </p>
        ))}
      </section>
    </>
  );
}
