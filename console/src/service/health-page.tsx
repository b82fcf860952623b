/** Whether the service is well: what is wrong and what to read about it, and the jobs of the upkeep. */
import { failureText } from '../api/failure.ts';
import { useHealth } from '../api/service.ts';
import { timeNow } from '../api/service-time.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFormat } from '../format/format.ts';
import { durationText } from '../queue/duration.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { History } from './history.tsx';
import styles from './service.module.css';
import { useServiceTexts } from './service-texts.ts';
import { useTroubleWords } from './trouble-words.ts';

export default function HealthPage() {
  const service = useServiceTexts();
  const texts = useTexts();
  const wordsOf = useTroubleWords();
  const language = useLanguage();
  const format = useFormat();
  const { data, error } = useHealth();
  const health = data?.body;
  return (
    <div className={styles.page}>
      <PageHeading title={service.health} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!health && !error && <p>{texts.frame.loading}</p>}
      {health && (
        <>
          <Card title={health.ok ? service.well : service.notWell(format.number(health.troubles.length))}>
            <ul className={card.list}>
              {health.troubles.map(({ code, text, since }) => (
                <li key={code}>
                  <p>
                    <strong>{code}</strong>
                  </p>
                  {wordsOf(code) !== null && <p>{wordsOf(code)}</p>}
                  {/* The service says it in English, as the command does, with its numbers. */}
                  <p lang="en" className={wordsOf(code) === null ? undefined : card.quiet}>
                    {text}
                  </p>
                  {since !== null && (
                    <p>
                      {service.since(
                        format.time(since),
                        durationText(timeNow() - Date.parse(since), language),
                      )}
                    </p>
                  )}
                  <p className={card.quiet}>{service.runbook(code)}</p>
                </li>
              ))}
            </ul>
            <Facts
              facts={[
                [service.version, health.version],
                [service.store, health.store ?? '—'],
              ]}
            />
          </Card>
          <History />
          {health.upkeep && (
            <Card title={service.upkeep}>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus. */}
              <section className={card.scroll} aria-label={service.jobs} tabIndex={0}>
                <table className={card.table}>
                  <thead>
                    <tr>
                      <th scope="col">{service.job}</th>
                      <th scope="col">{service.succeeded}</th>
                      <th scope="col">{service.failed}</th>
                      <th scope="col" className={card.words}>
                        {service.why}
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {health.upkeep.map(({ job, succeeded_at, failed_at, failed_why }) => (
                      <tr key={job}>
                        <th scope="row" lang="en">
                          {job}
                        </th>
                        <td>{succeeded_at === null ? '—' : format.time(succeeded_at)}</td>
                        <td>{failed_at === null ? '—' : format.time(failed_at)}</td>
                        <td className={card.words} lang="en">
                          {failed_why ?? '—'}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </section>
            </Card>
          )}
        </>
      )}
    </div>
  );
}
