/** Saves a document as a draft, under a name of its own or in the place of the draft that was shown. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import type { FindingReply, PoliciesReply } from '../../../src/subjects/policies/routes/forms.ts';
import { saveDraft } from '../api/policies.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { asDraft, nextName, VERSION } from './edits.ts';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';

interface SaveDraftProps {
  readonly document: PolicyDocument;
  readonly shown: PoliciesReply;
  readonly findings: readonly FindingReply[];
  /** The draft that is shown; null: what is shown is no draft. */
  readonly own: { readonly version: string; readonly sha256: string } | null;
  readonly onSaved: (version: string) => void;
}

export function SaveDraft({ document, shown, findings, own, onSaved }: SaveDraftProps) {
  const policies = usePolicyTexts();
  const failure = useFailure();
  const taken = shown.versions.map(({ version }) => version);
  const [name, setName] = useState(() => own?.version ?? nextName(document.version, taken));
  const saving = useMutation({
    mutationFn: () =>
      saveDraft(asDraft(document, name), own !== null && own.version === name ? own.sha256 : null),
    onSuccess: ({ version }) => onSaved(version),
  });
  const errors = findings.filter(({ severity }) => severity === 'error');
  const isReady = VERSION.test(name) && errors.length === 0 && !saving.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) saving.mutate();
  };
  return (
    <Card title={policies.save}>
      <form className={styles.form} noValidate onSubmit={submit}>
        <label>
          {policies.name}
          <input
            type="text"
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            value={name}
            aria-invalid={!VERSION.test(name)}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <p className={card.quiet}>
          {policies.nameRule} {policies.draftNote}
        </p>
        {saving.error && <p role="alert">{failure(saving.error)}</p>}
        <div className={styles.actions}>
          <button type="submit" data-main disabled={!isReady}>
            {policies.save}
          </button>
        </div>
      </form>
    </Card>
  );
}

/** Says that a draft was saved. It stands above what shows the draft, which is new by then. */
export function SavedNote({ version }: { version: string | null }) {
  const policies = usePolicyTexts();
  return (
    <p role="status" className={styles.status}>
      {version !== null && (
        <>
          {policies.saved(version)}{' '}
          <Link href={`/policies?${new URLSearchParams({ view: 'card', version })}`}>{policies.show}</Link>{' '}
          <Link href={`/policies?${new URLSearchParams({ view: 'trial', version })}`}>
            {policies.view.trial}
          </Link>
        </>
      )}
    </p>
  );
}
