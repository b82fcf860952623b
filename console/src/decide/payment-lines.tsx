/** The lines of a payment, filled in with the list of the contract: what is paid to whom, and under which reference. */
import { useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';

/** A line as it is typed. */
export interface TypedLine {
  readonly payee: string;
  readonly amount: string;
  readonly reference: string;
  readonly value_date: string;
}

interface PaymentLinesProps {
  readonly lines: readonly TypedLine[];
  readonly onChange: (lines: readonly TypedLine[]) => void;
}

export function PaymentLines({ lines, onChange }: PaymentLinesProps) {
  const { decide } = useTexts();
  const names = {
    payee: decide.payee,
    amount: decide.lineAmount,
    reference: decide.reference,
    value_date: decide.valueDate,
  };
  const change = (at: number, field: keyof TypedLine, value: string) =>
    onChange(lines.map((line, index) => (index === at ? { ...line, [field]: value } : line)));
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and none is added or removed
    <fieldset key={at} className={styles.line}>
      <legend>{decide.line(at + 1)}</legend>
      {(Object.keys(names) as (keyof TypedLine)[]).map((field) => (
        <label key={field}>
          {names[field]}
          <input
            type="text"
            autoComplete="off"
            maxLength={200}
            value={line[field]}
            onChange={({ target }) => change(at, field, target.value)}
          />
        </label>
      ))}
    </fieldset>
  ));
}
