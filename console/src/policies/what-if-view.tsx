/** What if: points, bands and limits move, and the decisions of the last 30 days are counted anew at each move. */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import { DECISIONS } from '../../../src/domain/scorecard/scorecard.ts';
import {
  isWithin,
  type OpenCube,
  opened,
  type Swaps,
  whatIf,
} from '../../../src/domain/scorecard/what-if.ts';
import type { CardReply, PoliciesReply } from '../../../src/subjects/policies/routes/forms.ts';
import { refreshPolicies, useCard, useFindings, useHistory } from '../api/policies.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { CardTables, FindingText } from './card-tables.tsx';
import { VersionChoice } from './card-view.tsx';
import { CountingNote } from './counting.tsx';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';
import { SaveDraft, SavedNote } from './save-draft.tsx';
import { Swapped } from './swap-table.tsx';
import { approvalsOf, changes, type SwapRows } from './swaps.ts';

interface WhatIfProps {
  readonly shown: PoliciesReply;
  readonly version: string | null;
  readonly isAdmin: boolean;
}

export function WhatIfView({ shown, version, isAdmin }: WhatIfProps) {
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = useCard(version);
  const history = useHistory(version);
  const told = history.data?.body.cube ?? null;
  const cube = useMemo(() => (told === null ? null : opened(told)), [told]);
  const failed = error ?? history.error;
  const [saved, setSaved] = useState<string | null>(null);
  return (
    <>
      <VersionChoice {...{ shown, version }} />
      <SavedNote version={saved} />
      {failed && <p role="alert">{failure(failed)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      <CountingNote reply={history.data?.body} />
      {data && cube && (
        <Trial key={data.body.sha256} {...{ shown, cube, isAdmin }} of={data.body} onSaved={setSaved} />
      )}
    </>
  );
}

const rowsOf = (swaps: Swaps): SwapRows =>
  DECISIONS.map((before) => DECISIONS.map((after) => swaps[before][after]));

interface TrialProps {
  readonly shown: PoliciesReply;
  readonly of: CardReply;
  readonly cube: OpenCube;
  readonly isAdmin: boolean;
  readonly onSaved: (version: string) => void;
}

function Trial({ shown, of, cube, isAdmin, onSaved }: TrialProps) {
  const policies = usePolicyTexts();
  const queries = useQueryClient();
  const [document, setDocument] = useState<PolicyDocument>(of.document);
  const isEdited = document !== of.document;
  const checked = useFindings(isAdmin && isEdited ? document : null);
  const findings = isEdited ? (checked.data?.body.findings ?? []) : of.findings;
  const swaps = isWithin(cube, of.document, document) ? whatIf(cube, document) : null;
  const rows = swaps === null ? null : rowsOf(swaps);
  return (
    <div className={styles.two}>
      <div className={styles.page}>
        <CardTables
          {...{ document, cube, findings: [] }}
          reasons={of.reasons}
          onChange={setDocument}
          sliders
        />
        {rows !== null && <Sum rows={rows} />}
      </div>
      <div className={`${styles.page} ${styles.beside}`}>
        <Card
          title={policies.swaps}
          beside={
            <button type="button" disabled={!isEdited} onClick={() => setDocument(of.document)}>
              {policies.reset}
            </button>
          }
        >
          <p className={card.quiet}>
            {policies.swapsNote} {policies.riskNote}
          </p>
          {cube.applications === 0 && <p>{policies.nobody}</p>}
          {rows === null ? <p role="alert">{policies.beyond}</p> : <Swapped rows={rows} isTold />}
        </Card>
        {isAdmin && findings.length > 0 && (
          <Card title={policies.findings}>
            {findings.map((one) => (
              <FindingText key={one.code + one.place} finding={one} />
            ))}
          </Card>
        )}
        {isAdmin && (
          <SaveDraft
            {...{ document, shown, findings }}
            own={of.state === 'draft' ? { version: of.version, sha256: of.sha256 } : null}
            onSaved={(saved) => {
              onSaved(saved);
              refreshPolicies(queries);
            }}
          />
        )}
      </div>
    </div>
  );
}

/** The sum of what the table says, for a screen on which the table is out of sight. */
function Sum({ rows }: { rows: SwapRows }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const { all, before, after } = approvalsOf(rows);
  const rate = (count: number) => (all === 0 ? '—' : format.percent(count / all));
  return (
    <p className={styles.sum} aria-hidden="true">
      {policies.approvalRate}: {policies.rates(rate(before), rate(after))}.{' '}
      {changes(rows, policies, format.number)[0]}
    </p>
  );
}
