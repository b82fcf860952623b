/** The troubles that ended within the last 30 days, the newest first. */
import { failureText } from '../api/failure.ts';
import { useHealthHistory } from '../api/service.ts';
import { Card } from '../base-ui/card.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { useFormat } from '../format/format.ts';
import { durationText } from '../queue/duration.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import styles from './service.module.css';
import { useServiceTexts } from './service-texts.ts';
import { useTroubleWords } from './trouble-words.ts';

export function History() {
  const service = useServiceTexts();
  const texts = useTexts();
  const language = useLanguage();
  const wordsOf = useTroubleWords();
  const format = useFormat();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useHealthHistory();
  const ended = data?.pages.flatMap(({ body }) => body.troubles);
  return (
    <Card title={service.history}>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!ended && !error && <p>{texts.frame.loading}</p>}
      {ended?.length === 0 && <p>{service.noHistory}</p>}
      {ended && ended.length > 0 && (
        <RowTable
          label={service.history}
          heads={[service.trouble, service.began, service.lasted, service.times, service.said]}
          rows={ended.map(({ code, text, began_at: began, ended_at: end, times }) => ({
            id: `${code} ${began}`,
            cells: [
              code,
              format.time(began),
              durationText(Date.parse(end) - Date.parse(began), language),
              format.number(times),
              wordsOf(code) ?? (
                <span key="said" lang="en">
                  {text}
                </span>
              ),
            ],
          }))}
        />
      )}
      {hasNextPage && (
        <button
          type="button"
          className={styles.more}
          disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {service.more}
        </button>
      )}
    </Card>
  );
}
