/** The operator's saved views: to open, to delete, and to save the present one under a name. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { MOST_NAME_CHARACTERS, MOST_SAVED_VIEWS } from '../../../src/domain/application/views.ts';
import { failureText } from '../api/failure.ts';
import { type ViewAddress, viewHref } from '../api/find.ts';
import { deleteView, saveView, useSavedViews } from '../api/saved-views.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFindTexts } from '../find/find-texts.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './views.module.css';

interface SavedViewsProps {
  readonly address: ViewAddress;
  /** What else is done with the view. */
  readonly children: ReactNode;
}

export function SavedViews({ address, children }: SavedViewsProps) {
  const find = useFindTexts();
  const texts = useTexts();
  const queries = useQueryClient();
  const { data } = useSavedViews();
  const [isSaving, setSaving] = useState(false);
  const deleting = useMutation({ mutationFn: (id: number) => deleteView(queries, id) });
  const views = data?.body.views ?? [];
  const here = viewHref(address);
  return (
    <section className={styles.saved} aria-label={find.savedViews}>
      {views.length > 0 && (
        <ul>
          {views.map(({ id, name, query }) => {
            const href = viewHref({
              ...query,
              partner: query.partner && String(query.partner),
            } as ViewAddress);
            return (
              <li key={id}>
                <Link href={href} aria-current={href === here ? 'page' : undefined}>
                  {name}
                </Link>
                <button
                  type="button"
                  aria-label={find.deleteView(name)}
                  disabled={deleting.isPending}
                  onClick={() => deleting.mutate(id)}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <button type="button" onClick={() => setSaving(true)} disabled={data === undefined}>
        {find.saveView}
      </button>
      {children}
      {deleting.error && (
        <p role="alert">{failureText(deleting.error, texts, { 404: find.deletedBefore })}</p>
      )}
      <Dialog
        isOpen={isSaving}
        onClose={() => setSaving(false)}
        title={find.saveView}
        note={find.saveNote(MOST_SAVED_VIEWS)}
      >
        <SaveForm address={address} onClose={() => setSaving(false)} />
      </Dialog>
    </section>
  );
}

/** Gone with the dialog, and what was typed with it. */
function SaveForm({ address, onClose }: { address: ViewAddress; onClose: () => void }) {
  const find = useFindTexts();
  const texts = useTexts();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const saving = useMutation({
    mutationFn: () => saveView(queries, name.trim(), address),
    onSuccess: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') saving.mutate();
  };
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {find.viewName}
        <input
          required
          maxLength={MOST_NAME_CHARACTERS}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      {saving.isError && (
        <p role="alert">{failureText(saving.error, texts, { 400: find.notSaved(MOST_SAVED_VIEWS) })}</p>
      )}
      <DialogButtons>
        <button type="submit" data-main disabled={saving.isPending}>
          {find.save}
        </button>
        <button type="button" onClick={onClose}>
          {texts.frame.cancel}
        </button>
      </DialogButtons>
    </form>
  );
}
