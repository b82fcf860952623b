/** What only the person knows of a file: `submit` asks the same, and takes no meaning by itself (D10). */
import { type ReactNode, useId } from 'react';
import { Card } from '../../../console/src/base-ui/card.tsx';
import { useFormat } from '../../../console/src/format/format.ts';
import { useLanguage } from '../../../console/src/texts/texts.ts';
import { BULK_FIELDS } from '../../../packages/submit/src/map/columns.ts';
import { WORD_FIELDS } from '../../../packages/submit/src/map/words.ts';
import type { FieldName } from '../../../src/domain/application/fields.ts';
import { inLine } from '../../../src/ground/base/plain-text.ts';
import { type Answers, NO_ANSWERS, type Outcome, type Reading } from './read-file.ts';
import styles from './send.module.css';
import { useSendTexts } from './send-texts.ts';

interface QuestionsProps {
  readonly outcome: Extract<Outcome, { kind: 'read' | 'doubtful' }>;
  readonly answers: Answers;
  readonly onAnswers: (answers: Answers) => void;
}

export function Questions({ outcome, answers, onAnswers }: QuestionsProps) {
  const texts = useSendTexts();
  const asked =
    outcome.kind === 'doubtful' ? (
      <Select
        label={texts.encoding}
        value=""
        options={outcome.readings.map(({ page, words }) => [
          page,
          `${page}: ${words.map(inLine).join(', ')}`,
        ])}
        onChoose={(encoding) => onAnswers({ ...answers, encoding })}
      />
    ) : (
      <OfReading reading={outcome.reading} answers={answers} onAnswers={onAnswers} />
    );
  const isAnything = outcome.kind === 'doubtful' || answers !== NO_ANSWERS || asks(outcome.reading);
  return isAnything ? (
    <Card title={texts.questions}>
      <div className={styles.questions}>{asked}</div>
      {answers !== NO_ANSWERS && (
        <button type="button" className={styles.again} onClick={() => onAnswers(NO_ANSWERS)}>
          {texts.again}
        </button>
      )}
    </Card>
  ) : null;
}

function asks({ check }: Reading): boolean {
  return check.ambiguous !== null || check.words.all.length > 0 || check.unsent.length > 0;
}

interface OfReadingProps extends Omit<QuestionsProps, 'outcome'> {
  readonly reading: Reading;
}

/** Words and columns that are answered are read, and no question any more; all can be answered anew. */
function OfReading({ reading, answers, onAnswers }: OfReadingProps) {
  const texts = useSendTexts();
  const { number } = useFormat();
  const language = useLanguage();
  const { check, fields } = reading;
  const without = BULK_FIELDS.filter(({ name }) => !fields.some((field) => field.name === name));
  return (
    <>
      {(check.ambiguous !== null || answers.decimal !== null) && (
        <Select
          label={texts.decimal}
          value={answers.decimal ?? ''}
          options={[
            ['comma', texts.comma],
            ['point', texts.point],
          ]}
          onChoose={(decimal) => onAnswers({ ...answers, decimal })}
        />
      )}
      {check.words.all.map(([field, words]) =>
        words === null ? (
          <p key={field}>{texts.unknownWords(field)}</p>
        ) : (
          words.map(({ word, rows }) => (
            <Select
              key={`${field}:${word}`}
              label={texts.word(inLine(word), field, number(rows))}
              value=""
              options={valuesOf(field).map((value) => [value, value])}
              onChoose={(value) =>
                onAnswers({ ...answers, words: { ...answers.words, [`${field}:${word}`]: value } })
              }
            />
          ))
        ),
      )}
      {check.unsent.map(({ column, name, looks }) => (
        <Select
          key={column}
          label={texts.unsent(inLine(name) || `#${column + 1}`, looks[language])}
          value=""
          options={[
            ['', texts.leaveOut],
            ...without.map((field): [FieldName, string] => [field.name, field.name]),
          ]}
          onChoose={(field) => onAnswers({ ...answers, columns: { ...answers.columns, [column]: field } })}
        />
      ))}
    </>
  );
}

function valuesOf(field: FieldName): readonly string[] {
  return WORD_FIELDS.find(({ name }) => name === field)?.values ?? [];
}

interface SelectProps<T extends string> {
  readonly label: ReactNode;
  readonly value: T | '';
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChoose: (value: T) => void;
}

function Select<T extends string>({ label, value, options, onChoose }: SelectProps<T>) {
  const texts = useSendTexts();
  const id = useId();
  // By their places: an option may be an empty text, which leaves a column out.
  const chosen = value === '' ? -1 : options.findIndex(([one]) => one === value);
  return (
    <p className={styles.question}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={chosen}
        onChange={({ target }) => {
          const option = options[Number(target.value)];
          if (option !== undefined) onChoose(option[0]);
        }}
      >
        <option value={-1} disabled>
          {texts.choice}
        </option>
        {options.map(([one, text], index) => (
          <option key={one} value={index}>
            {text}
          </option>
        ))}
      </select>
    </p>
  );
}
