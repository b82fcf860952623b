/** What two versions do differently, by attribute, with how many of the last 30 days' applications each touches. */
import { useSearchParams } from 'wouter';
import type { PoliciesReply } from '../../../src/subjects/policies/routes/forms.ts';
import { useCard, useDifference } from '../api/policies.ts';
import { Card } from '../base-ui/card.tsx';
import rows from '../base-ui/rows.module.css';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { useNaming } from './card-tables.tsx';
import { CountingNote } from './counting.tsx';
import { placeName, sayingText } from './names.ts';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';

interface DifferenceProps {
  readonly shown: PoliciesReply;
  readonly live: string | null;
  readonly version: string | null;
}

/** Without a choice in the address: from the live version to the one that is shown, or to the newest other one. */
export function DifferenceView({ shown, live, version }: DifferenceProps) {
  const policies = usePolicyTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const [search] = useSearchParams();
  const versions = shown.versions.map((one) => one.version);
  const known = (name: string | null) => versions.find((one) => one === name) ?? null;
  const before = known(search.get('before')) ?? live;
  const other = version !== before ? version : (versions.find((one) => one !== before) ?? before);
  const after = known(search.get('after')) ?? other;
  const { data, error } = useDifference(before, after);
  return (
    <>
      <div className={styles.tools}>
        <Choice name="before" label={policies.before} value={before} shown={shown} />
        <Choice name="after" label={policies.after} value={after} shown={shown} />
      </div>
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      <CountingNote reply={data?.body} />
      {data && <Differences of={data.body} before={before} after={after} />}
    </>
  );
}

interface ChoiceProps {
  readonly name: 'before' | 'after';
  readonly label: string;
  readonly value: string | null;
  readonly shown: PoliciesReply;
}

function Choice({ name, label, value, shown }: ChoiceProps) {
  const policies = usePolicyTexts();
  const [search, setSearch] = useSearchParams();
  return (
    <label>
      {label}
      <select
        value={value ?? ''}
        onChange={({ target }) =>
          setSearch({ ...Object.fromEntries(search), [name]: target.value }, { replace: true })
        }
      >
        {shown.versions.map((one) => (
          <option key={one.version} value={one.version}>
            {one.version} ({one.is_withdrawn ? policies.withdrawn : policies.states[one.state]})
          </option>
        ))}
      </select>
    </label>
  );
}

interface DifferencesProps {
  readonly of: NonNullable<ReturnType<typeof useDifference>['data']>['body'];
  readonly before: string | null;
  readonly after: string | null;
}

function Differences({ of: { differences, applications, changed, since }, before, after }: DifferencesProps) {
  const naming = useNaming();
  const { policies, format } = naming;
  const language = useLanguage();
  const reasons = [
    ...(useCard(after).data?.body.reasons ?? []),
    ...(useCard(before).data?.body.reasons ?? []),
  ];
  return (
    <Card title={policies.view.difference}>
      {applications !== null && changed !== null && since !== null && (
        <p role="status">
          {applications === 0
            ? policies.nobody
            : policies.changed(format.number(changed), format.number(applications), since)}
        </p>
      )}
      {differences.length === 0 ? (
        <p>{policies.same}</p>
      ) : (
        <table className={rows.rows}>
          <thead>
            <tr>
              <th scope="col">{policies.place}</th>
              <th scope="col">{policies.before}</th>
              <th scope="col">{policies.after}</th>
              <th scope="col">{policies.touched}</th>
            </tr>
          </thead>
          <tbody>
            {differences.map((one) => (
              <tr key={one.place}>
                <th scope="row">{placeName(one.place, naming)}</th>
                <td data-label={policies.before}>{sayingText(one.before, reasons, language, naming)}</td>
                <td data-label={policies.after}>{sayingText(one.after, reasons, language, naming)}</td>
                <td data-label={policies.touched}>
                  {one.applications === null ? '—' : format.number(one.applications)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
