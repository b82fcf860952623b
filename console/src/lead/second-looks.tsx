/** Decisions that were drawn for a second look: the looker judges the application without knowing who decided. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { LeadReply, SecondLooksReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import { failureText } from '../api/failure.ts';
import { judge, useSecondLooks } from '../api/work.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './lead.module.css';

type Look = SecondLooksReply['second_looks'][number];

export function SecondLooks({ lead: { second_looks: told } }: { lead: LeadReply }) {
  const texts = useTexts();
  const { lead } = texts;
  const format = useFormat();
  const { data, error } = useSecondLooks();
  const shown = data?.body.second_looks;
  const [judged, setJudged] = useState<Look | null>(null);
  const [isOpen, setOpen] = useState(false);
  const open = (look: Look) => {
    setJudged(look);
    setOpen(true);
  };
  const waiting = lead.looksWaiting(told.waiting, format.number(told.waiting));
  const forOthers = told.own === 0 ? '' : `, ${lead.looksForOthers(format.number(told.own))}`;
  const looked = lead.lookedAt(told.looked, format.number(told.looked));
  const sum = lead.looks(format.percent(told.share), `${waiting}${forOthers}`, looked);
  return (
    <Card title={lead.secondLooks} beside={<span className={card.quiet}>{sum}</span>}>
      <p className={card.quiet}>
        {lead.looksNote} {told.looked > 0 && lead.disagreed(format.percent(told.disagreed / told.looked))}
      </p>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {shown?.length === 0 && <p>{lead.noLooks}</p>}
      {shown && shown.length > 0 && <LookTable looks={shown} onJudge={open} />}
      {judged && (
        <JudgeDialog key={judged.proposal} look={judged} isOpen={isOpen} onClose={() => setOpen(false)} />
      )}
    </Card>
  );
}

function LookTable({ looks, onJudge }: { looks: readonly Look[]; onJudge: (look: Look) => void }) {
  const { lead: texts, application, codes, desk } = useTexts();
  const format = useFormat();
  return (
    <div className={card.scroll}>
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">{application.title}</th>
            <th scope="col" className={card.words}>
              {texts.decision}
            </th>
            <th scope="col">{texts.yourLook}</th>
          </tr>
        </thead>
        <tbody>
          {looks.map((look) => (
            <tr key={look.proposal}>
              <th scope="row">
                <Link href={`/applications/${look.application_id}`}>{look.application_id}</Link>
              </th>
              <td className={card.words}>
                {desk.proposed[look.act]}: {desk.reasonCodes[look.reason_code]}
                <p className={card.quiet}>
                  {application.score} {look.score ?? '—'}
                  {look.decision !== null && ` (${codes.decisions[look.decision]})`} · {format.time(look.at)}
                </p>
              </td>
              <td>
                <button
                  type="button"
                  aria-label={`${texts.judge}: ${application.title} ${look.application_id}`}
                  onClick={() => onJudge(look)}
                >
                  {texts.judge}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface JudgeDialogProps {
  readonly look: Look;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function JudgeDialog({ look, isOpen, onClose }: JudgeDialogProps) {
  const texts = useTexts();
  const { lead, application, desk, frame } = texts;
  const queries = useQueryClient();
  const [agrees, setAgrees] = useState<boolean | null>(null);
  const [note, setNote] = useState('');
  const judging = useMutation({
    mutationFn: (body: { agrees: boolean; note: string }) => judge(queries, look.proposal, body),
    onSuccess: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (agrees !== null) judging.mutate({ agrees, note: note.trim() });
  };
  const known = { 400: lead.badNote, 403: lead.own, 404: lead.lookGone };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`${application.title} ${look.application_id}`}
      note={`${desk.proposed[look.act]}: ${desk.reasonCodes[look.reason_code]}`}
    >
      <form className={card.form} onSubmit={submit}>
        <fieldset className={styles.choices}>
          <legend>{lead.yourLook}</legend>
          {[true, false].map((value) => (
            <label key={String(value)} className={styles.choice}>
              <input
                type="radio"
                name="agrees"
                required
                checked={agrees === value}
                onChange={() => setAgrees(value)}
              />
              {value ? lead.agree : lead.disagree}
            </label>
          ))}
        </fieldset>
        <label>
          {lead.note}
          <textarea rows={2} maxLength={500} value={note} onChange={({ target }) => setNote(target.value)} />
        </label>
        {judging.isError && <p role="alert">{failureText(judging.error, texts, known)}</p>}
        <DialogButtons>
          <button type="submit" data-main disabled={judging.isPending}>
            {lead.save}
          </button>
          <button type="button" onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
