/** The lines of a payment, filled in with the list of the contract: what is paid to whom, and under which reference. */
import { type Texts, useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';

/** A line as it is typed. */
export interface TypedLine {
  /** It is paid now. */
  readonly isPaid: boolean;
  readonly payee: string;
  readonly amount: string;
  readonly reference: string;
  readonly value_date: string;
}

interface PaymentLinesProps {
  readonly lines: readonly TypedLine[];
  readonly onChange: (lines: readonly TypedLine[]) => void;
}

const FIELDS = ['payee', 'amount', 'reference', 'value_date'] as const;

function namesOf(decide: Texts['decide']): Readonly<Record<(typeof FIELDS)[number], string>> {
  return {
    payee: decide.payee,
    amount: decide.lineAmount,
    reference: decide.reference,
    value_date: decide.valueDate,
  };
}

/** What is missing in the lines that are paid, in words. */
export function missingIn(lines: readonly TypedLine[], decide: Texts['decide']): string[] {
  const names = namesOf(decide);
  return lines.flatMap((line, at) =>
    FIELDS.filter((field) => line.isPaid && line[field].trim() === '').map((field) =>
      decide.lineLacks(decide.line(at + 1), names[field]),
    ),
  );
}

export function PaymentLines({ lines, onChange }: PaymentLinesProps) {
  const { decide } = useTexts();
  const names = namesOf(decide);
  const change = (at: number, changed: Partial<TypedLine>) =>
    onChange(lines.map((line, index) => (index === at ? { ...line, ...changed } : line)));
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and none is added or removed
    <fieldset key={at} className={styles.line}>
      <legend>{decide.line(at + 1)}</legend>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={line.isPaid}
          onChange={({ target }) => change(at, { isPaid: target.checked })}
        />
        {decide.isPaid}
      </label>
      {FIELDS.map((field) => (
        <label key={field}>
          {names[field]}
          <input
            type={field === 'value_date' ? 'date' : 'text'}
            autoComplete="off"
            maxLength={200}
            disabled={!line.isPaid}
            value={line[field]}
            onChange={({ target }) => change(at, { [field]: target.value })}
          />
        </label>
      ))}
    </fieldset>
  ));
}
