/** One version as tables. A draft has fields for its points and bands, and its findings beside them. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import { opened } from '../../../src/domain/scorecard/what-if.ts';
import type { CardReply, FindingReply, PoliciesReply } from '../../../src/subjects/policies/routes/forms.ts';
import { refreshPolicies, useCard, useFindings, useHistory } from '../api/policies.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useTexts } from '../texts/texts.ts';
import { CardTables, FindingText } from './card-tables.tsx';
import { CountingNote } from './counting.tsx';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';
import { SaveDraft, SavedNote } from './save-draft.tsx';

interface CardViewProps {
  readonly shown: PoliciesReply;
  readonly version: string | null;
  readonly isAdmin: boolean;
}

export function CardView({ shown, version, isAdmin }: CardViewProps) {
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = useCard(version);
  const [saved, setSaved] = useState<string | null>(null);
  return (
    <>
      <VersionChoice {...{ shown, version }} />
      <SavedNote version={saved} />
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {data && <ShownCard key={data.body.sha256} {...{ isAdmin, shown }} of={data.body} onSaved={setSaved} />}
    </>
  );
}

/** Chooses the version of a view; it stands in the address. */
export function VersionChoice({ shown, version }: Pick<CardViewProps, 'shown' | 'version'>) {
  const policies = usePolicyTexts();
  const [search, setSearch] = useSearchParams();
  return (
    <div className={styles.tools}>
      <label>
        {policies.version}
        <select
          value={version ?? ''}
          onChange={({ target }) =>
            setSearch({ ...Object.fromEntries(search), version: target.value }, { replace: true })
          }
        >
          {shown.versions.map((one) => (
            <option key={one.version} value={one.version}>
              {one.version} ({one.is_withdrawn ? policies.withdrawn : policies.states[one.state]})
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface ShownCardProps {
  readonly of: CardReply;
  readonly isAdmin: boolean;
  readonly shown: PoliciesReply;
  readonly onSaved: (version: string) => void;
}

function ShownCard({ of, isAdmin, shown, onSaved }: ShownCardProps) {
  const policies = usePolicyTexts();
  const queries = useQueryClient();
  const isDraft = of.state === 'draft' && isAdmin;
  const [document, setDocument] = useState<PolicyDocument>(of.document);
  const isEdited = document !== of.document;
  const checked = useFindings(isEdited ? document : null);
  const findings: readonly FindingReply[] = (isEdited ? checked.data?.body.findings : null) ?? of.findings;
  const history = useHistory(of.version);
  const cube = history.data?.body.cube ?? null;
  const whatIf = `/policies?${new URLSearchParams({ view: 'what-if', version: of.version })}`;
  return (
    <>
      <CountingNote reply={history.data?.body} />
      {isAdmin && <Link href={whatIf}>{policies.edit}</Link>}
      <div className={styles.two}>
        <CardTables
          {...{ document, findings }}
          reasons={of.reasons}
          cube={cube === null ? null : opened(cube)}
          onChange={isDraft ? setDocument : null}
        />
        <Card title={policies.findings}>
          {findings.length === 0 && <p>{policies.noFindings}</p>}
          {findings.map((one) => (
            <FindingText key={one.code + one.place} finding={one} />
          ))}
        </Card>
        <Card title={policies.json}>
          <div className={styles.form}>
            <a href={fileOf(document)} download={`${of.version}.json`}>
              {policies.download}
            </a>
            {isDraft && <Upload onLoad={setDocument} />}
          </div>
        </Card>
      </div>
      {isDraft && (
        <SaveDraft
          {...{ document, shown, findings }}
          own={{ version: of.version, sha256: of.sha256 }}
          onSaved={(saved) => {
            onSaved(saved);
            refreshPolicies(queries);
          }}
        />
      )}
      {!isAdmin && <p className={card.quiet}>{policies.onlyAdmin}</p>}
    </>
  );
}

/** The document as a file that the browser saves. The page's policy allows links to data, and runs none. */
function fileOf(document: PolicyDocument): string {
  return `data:application/json;charset=utf-8,${encodeURIComponent(`${JSON.stringify(document, null, 2)}\n`)}`;
}

/** Loads a file into the fields. The service checks it before it is saved. */
function Upload({ onLoad }: { onLoad: (document: PolicyDocument) => void }) {
  const policies = usePolicyTexts();
  const [isBad, setBad] = useState(false);
  const load = async (file: File | undefined) => {
    if (file === undefined) return;
    const document = documentOf(await file.text());
    setBad(document === null);
    if (document !== null) onLoad(document);
  };
  return (
    <label>
      {policies.upload}
      <input type="file" accept="application/json,.json" onChange={({ target }) => load(target.files?.[0])} />
      {isBad && <span role="alert">{policies.badFile}</span>}
    </label>
  );
}

/** The document in the text of a file; null: it has not even the parts that the page shows. */
function documentOf(text: string): PolicyDocument | null {
  try {
    const document = JSON.parse(text) as PolicyDocument;
    const { characteristics, decision, limits, rates, reference_installment } = document;
    const isShown =
      [characteristics, decision, rates, reference_installment].every((part) => typeof part === 'object') &&
      Array.isArray(limits) &&
      ['payment_capacity', 'channel', 'debt_age', 'num_debts', 'prior_history'].every((name) =>
        Array.isArray(characteristics[name as keyof typeof characteristics]?.attributes),
      );
    return isShown ? document : null;
  } catch {
    return null;
  }
}
