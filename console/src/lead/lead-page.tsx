/** The lead's view: what was decided, what waits, what was decided against the score, and second looks. */
import { useSearchParams } from 'wouter';
import { failureText } from '../api/failure.ts';
import { useLead } from '../api/work.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useTexts } from '../texts/texts.ts';
import { Backlog } from './backlog.tsx';
import { Decisions } from './decisions.tsx';
import styles from './lead.module.css';
import { Overrides } from './overrides.tsx';
import { SecondLooks } from './second-looks.tsx';

const DAYS = [1, 7, 30, 90];
const FIRST_DAYS = 7;

export default function LeadPage() {
  const texts = useTexts();
  const { lead, frame } = texts;
  const [search, setSearch] = useSearchParams();
  const asked = Number(search.get('days'));
  const days = DAYS.includes(asked) ? asked : FIRST_DAYS;
  const { data, error } = useLead(days);
  return (
    <>
      <PageHeading title={lead.title}>
        <select
          className={styles.days}
          aria-label={lead.days}
          value={days}
          onChange={({ target }) => setSearch({ days: target.value }, { replace: true })}
        >
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {lead.lastDays(count)}
            </option>
          ))}
        </select>
      </PageHeading>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {data && (
        <div className={styles.cards}>
          <Decisions lead={data.body} />
          <Backlog lead={data.body} />
          <Overrides lead={data.body} />
          <SecondLooks lead={data.body} />
        </div>
      )}
    </>
  );
}
