/** The rows of a file, a page of them at a time. */
import { Fragment, useState } from 'react';
import { Card } from '../../../console/src/base-ui/card.tsx';
import { useFormat } from '../../../console/src/format/format.ts';
import type { Reading } from './read-file.ts';
import styles from './send.module.css';
import { useSendTexts } from './send-texts.ts';
import { Wide } from './wide.tsx';

const ROWS_A_PAGE = 25;

export function Rows({ reading }: { readonly reading: Reading }) {
  const texts = useSendTexts();
  const { number } = useFormat();
  const [start, setStart] = useState(0);
  const [onlyFaults, setOnlyFaults] = useState(false);
  const chosen = onlyFaults ? reading.rows.filter(({ faults }) => faults.length > 0) : reading.rows;
  const shown = chosen.slice(start, start + ROWS_A_PAGE);
  return (
    <Card title={texts.eachRow}>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={onlyFaults}
          onChange={({ target }) => {
            setStart(0);
            setOnlyFaults(target.checked);
          }}
        />
        {texts.onlyFaults}
      </label>
      <Wide label={texts.eachRow}>
        <table className={styles.plain}>
          <thead>
            <tr>
              <th scope="col">{texts.row}</th>
              {reading.fields.map(({ name }) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Fragment key={row.number}>
                <tr data-refused={row.faults.length > 0 || undefined}>
                  <th scope="row">{number(row.number)}</th>
                  {reading.fields.map(({ name }, index) => (
                    <td key={name}>{row.values[index]}</td>
                  ))}
                </tr>
                {row.faults.length > 0 && (
                  <tr>
                    <td />
                    <td colSpan={reading.fields.length}>
                      <div className={styles.faults}>{row.faults.join('; ')}</div>
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </Wide>
      <p className={styles.standing}>
        <button type="button" disabled={start === 0} onClick={() => setStart(start - ROWS_A_PAGE)}>
          {texts.previous}
        </button>
        <span role="status">
          {chosen.length === 0
            ? texts.none
            : texts.shown(number(start + 1), number(start + shown.length), number(chosen.length))}
        </span>
        <button
          type="button"
          disabled={start + ROWS_A_PAGE >= chosen.length}
          onClick={() => setStart(start + ROWS_A_PAGE)}
        >
          {texts.next}
        </button>
      </p>
    </Card>
  );
}
