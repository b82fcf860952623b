/** The page of the business: what happened in a period, against the one before, and where people leave. */
import { useSearchParams } from 'wouter';
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import { type BusinessFilters, useBusiness } from '../api/business.ts';
import { failureText } from '../api/failure.ts';
import { timeNow } from '../api/service-time.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './business.module.css';
import { useBusinessTexts } from './business-texts.ts';
import { Caps } from './caps.tsx';
import { Decisions } from './decisions.tsx';
import { Funnel } from './funnel.tsx';
import { ByPartner } from './partners.tsx';
import { type By, filtersOf, PERIODS, periodsUpTo } from './sums.ts';
import { Totals } from './totals.tsx';
import { Waits } from './waits.tsx';

export default function BusinessPage() {
  const business = useBusinessTexts();
  const texts = useTexts();
  const [search, setSearch] = useSearchParams();
  const filters = filtersOf(search);
  const { data, error, isPlaceholderData } = useBusiness(filters);
  const shown = data?.body;
  const set = (change: Readonly<Record<string, string>>) =>
    setSearch(
      Object.entries({ ...filters, ...change }).filter(([, value]) => value !== ''),
      { replace: true },
    );
  return (
    <div className={styles.page}>
      <PageHeading title={business.title} />
      <Filters filters={filters} shown={shown} onChange={set} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!shown && !error && <p>{texts.frame.loading}</p>}
      {shown && (
        <div className={styles.cards} aria-busy={isPlaceholderData}>
          <Totals shown={shown} filters={filters} />
          <Funnel rows={shown.rows} />
          <Waits shown={shown} />
          <ByPartner shown={shown} filters={filters} />
          <Decisions shown={shown} />
          <Caps partners={shown.partners.filter((one) => one.is_open)} />
        </div>
      )}
    </div>
  );
}

interface FiltersProps {
  readonly filters: BusinessFilters;
  readonly shown: BusinessPeriodReply | undefined;
  readonly onChange: (change: Readonly<Record<string, string>>) => void;
}

function Filters({ filters, shown, onChange }: FiltersProps) {
  const business = useBusinessTexts();
  const by = filters.by as By;
  const partners = shown?.partners ?? [];
  const countries = [...new Set(partners.map(({ country }) => country))].sort();
  const currencies = [
    ...new Set([...(shown?.rows ?? []), ...(shown?.rows_before ?? [])].map(({ currency }) => currency)),
  ].sort();
  const periods = periodsUpTo(by, timeNow());
  const period = filters.period ?? (shown?.by === by ? shown.period : periods[1]!);
  const any = ['', business.all] as const;
  return (
    <form
      className={styles.filters}
      aria-label={business.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      <Choice
        label={business.by}
        value={by}
        choices={PERIODS.map((name) => [name, business.periods[name]])}
        // The day stays where it is: the week or the month that has it is shown.
        onChoose={(value) => onChange({ by: value })}
      />
      <Choice
        label={business.period}
        value={period}
        choices={periods.map((day, back) => [
          day,
          back === 0 ? business.goingOn(day) : business.begins[by](day),
        ])}
        onChoose={(value) => onChange({ period: value })}
      />
      <Choice
        label={business.partner}
        value={filters.partner ?? ''}
        choices={[any, ...partners.map(({ id, name }) => [`${id}`, name] as const)]}
        onChoose={(value) => onChange({ partner: value })}
      />
      <Choice
        label={business.country}
        value={filters.country ?? ''}
        choices={[any, ...countries.map((code) => [code, code] as const)]}
        onChoose={(value) => onChange({ country: value })}
      />
      <Choice
        label={business.currency}
        value={filters.currency ?? ''}
        choices={[any, ...currencies.map((code) => [code, code] as const)]}
        onChoose={(value) => onChange({ currency: value })}
      />
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

/** A value of the address that is none of the choices is shown as it is. */
function Choice({ label, value, choices, onChoose }: ChoiceProps) {
  const isOther = !choices.some(([choice]) => choice === value);
  return (
    <label>
      {label}
      <select value={value} onChange={({ target }) => onChoose(target.value)}>
        {isOther && <option value={value}>{value}</option>}
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
