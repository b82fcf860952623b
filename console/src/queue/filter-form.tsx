/** The filters and the order of the queue. Each change is a change of the address. */
import { type FormEvent, useState } from 'react';
import type { Static } from 'typebox';
import type { PartnerName } from '../../../src/wire/operator/form.ts';
import { AGES, BANDS, CLAIMS, DUES, type Filters, ORDERS, STATES, withFilter } from '../api/filters.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { durationText } from './duration.ts';
import styles from './queue.module.css';

const HOUR_MS = 3_600_000;
/** What the button of a narrow window shows. */
export const FILTERS_ID = 'filters';

interface FilterFormProps {
  readonly filters: Filters;
  /** The partners that can be chosen. */
  readonly partners: readonly Static<typeof PartnerName>[];
  readonly onChange: (filters: Filters) => void;
  /** A narrow window has it behind a button. */
  readonly isOpen: boolean;
}

export function FilterForm({ filters, partners, onChange, isOpen }: FilterFormProps) {
  const { desk, queue } = useTexts();
  const language = useLanguage();
  const set = (change: Parameters<typeof withFilter>[1]) => onChange(withFilter(filters, change));
  const hours = (count: number) => durationText(count * HOUR_MS, language);
  const { score_from, score_to } = filters;
  const setBand = (text: string) => {
    const band = BANDS.find((known) => known.join('–') === text);
    set({ score_from: band?.[0], score_to: band?.[1] });
  };
  const chosenPartner = partners.find(({ id }) => id === filters.partner);
  const isPartnerUnknown = filters.partner !== undefined && chosenPartner === undefined;
  return (
    <form
      id={FILTERS_ID}
      className={styles.filters}
      aria-label={queue.filters}
      data-open={isOpen || undefined}
      onSubmit={(event) => event.preventDefault()}
    >
      <Choice
        label={queue.band}
        value={
          score_from === undefined && score_to === undefined ? '' : `${score_from ?? 0}–${score_to ?? 100}`
        }
        choices={BANDS.map((band) => [band.join('–'), band.join('–')])}
        onChoose={setBand}
      />
      <Choice
        label={queue.due}
        value={String(filters.due_within ?? '')}
        choices={DUES.map((due) => [String(due), due === 0 ? queue.overdue : queue.dueWithin(hours(due))])}
        onChoose={(text) => set({ due_within: numberOf(text) })}
      />
      <Choice
        label={queue.age}
        value={String(filters.age_from ?? '')}
        choices={AGES.map((age) => [String(age), queue.ageFrom(hours(age))])}
        onChoose={(text) => set({ age_from: numberOf(text) })}
      />
      <Amounts key={`${filters.amount_from}-${filters.amount_to}`} filters={filters} onChange={set} />
      <Choice
        label={queue.partner}
        value={String(filters.partner ?? '')}
        choices={[
          ...partners.map(({ id, name }) => [String(id), name] as const),
          ...(isPartnerUnknown ? [[String(filters.partner), String(filters.partner)] as const] : []),
        ]}
        onChoose={(text) => set({ partner: numberOf(text) })}
      />
      <Choice
        label={queue.state}
        value={filters.state ?? ''}
        choices={STATES.map((state) => [state, desk.queueStates[state]])}
        onChoose={(text) => set({ state: STATES.find((state) => state === text) })}
      />
      <Choice
        label={queue.claim}
        value={filters.claim ?? ''}
        choices={CLAIMS.map((claim) => [claim, queue.claims[claim]])}
        onChoose={(text) => set({ claim: CLAIMS.find((claim) => claim === text) })}
      />
      <Choice
        label={queue.order}
        value={filters.order ?? 'due'}
        choices={ORDERS.map((order) => [order, desk.orders[order]])}
        isWhole
        onChoose={(text) => set({ order: ORDERS.find((order) => order === text && order !== 'due') })}
      />
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => onChange({})}>
          {queue.clear}
        </button>
      )}
    </form>
  );
}

function numberOf(text: string): number | undefined {
  return text === '' ? undefined : Number(text);
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  /** The choices are all there are: there is no "any". */
  readonly isWhole?: boolean;
  readonly onChoose: (value: string) => void;
}

/** A value of the address that is none of the choices stands among them. */
function Choice({ label, value, choices, isWhole = false, onChoose }: ChoiceProps) {
  const { queue } = useTexts();
  const isOther = value !== '' && !choices.some(([choice]) => choice === value);
  return (
    <label>
      {label}
      <select value={value} onChange={({ target }) => onChoose(target.value)}>
        {!isWhole && <option value="">{queue.any}</option>}
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

interface AmountsProps {
  readonly filters: Filters;
  readonly onChange: (change: { amount_from: number | undefined; amount_to: number | undefined }) => void;
}

/** Typed amounts count when the field is left or Enter is pressed. */
function Amounts({ filters, onChange }: AmountsProps) {
  const { queue } = useTexts();
  const [from, setFrom] = useState(String(filters.amount_from ?? ''));
  const [to, setTo] = useState(String(filters.amount_to ?? ''));
  const commit = () => {
    const change = { amount_from: numberOf(from), amount_to: numberOf(to) };
    if (change.amount_from !== filters.amount_from || change.amount_to !== filters.amount_to)
      onChange(change);
  };
  const onEnter = (event: FormEvent & { key?: string }) => {
    if (event.key === 'Enter') commit();
  };
  const field = { type: 'number', min: 0, step: 1, onBlur: commit, onKeyDown: onEnter } as const;
  return (
    <>
      <label className={styles.amountField}>
        {queue.amountFrom}
        <input {...field} value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
      <label className={styles.amountField}>
        {queue.amountTo}
        <input {...field} value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
    </>
  );
}
