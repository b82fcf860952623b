/** Asks for the reason code of a decision. One key picks the code and proposes, unless the file contradicts it. */
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ReviewAction } from '../../../src/domain/application/lifecycle.ts';
import { codesOfOperators, type ReasonCode } from '../../../src/domain/application/reason-codes.ts';
import type { NewProposalBody } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useAreShortcutsOn } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import { keyOfCode } from './choices.ts';
import styles from './decide.module.css';
import { missingIn, PaymentLines, type TypedLine } from './payment-lines.tsx';

interface ReasonDialogProps {
  readonly act: ReviewAction;
  readonly title: string;
  readonly note?: ReactNode;
  /** The contract holds the payment: it may be made in spite of that. */
  readonly isHeld?: boolean;
  readonly isPending?: boolean;
  /** What has to be said before is there; until then nothing is proposed. */
  readonly isReady?: boolean;
  /** How the file contradicts a code, in words. Such a code is proposed only after that was said. */
  readonly contradicted?: ReadonlyMap<ReasonCode, string>;
  /** The lines of a payment, as they are filled in before anybody types; absent: the act has none. */
  readonly lines?: readonly TypedLine[];
  /** Why the last try failed; null: none did. */
  readonly failure?: string | null;
  readonly onClose: () => void;
  readonly onDecide: (body: NewProposalBody) => void;
}

export function ReasonDialog(props: ReasonDialogProps) {
  const { act, title, note, isHeld = false, isPending = false, failure = null, onClose, onDecide } = props;
  const { contradicted = NONE, isReady = true } = props;
  const [lines, setLines] = useState(props.lines ?? []);
  const { decide, frame } = useTexts();
  const areKeysOn = useAreShortcutsOn();
  const codes = codesOfOperators(act);
  const [code, setCode] = useState<ReasonCode | null>(null);
  const [reason, setReason] = useState('');
  const [isOverride, setOverride] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const [missing, setMissing] = useState<readonly string[]>([]);
  const send = (chosen: ReasonCode) => {
    const body = { act, reason_code: chosen, reason: reason.trim() || chosen };
    const found = [
      ...missingIn(lines, decide),
      ...(isOverride && reason.trim() === '' ? [decide.overrideWhy] : []),
    ];
    setMissing(found);
    const paid = lines.filter(({ isPaid }) => isPaid).map(({ isPaid: _, ...line }) => line);
    if (!isPending && isReady && found.length === 0)
      onDecide({
        ...body,
        ...(isOverride && { override: true }),
        ...(paid.length > 0 && { lines: paid }),
      });
  };
  useNumberKeys(codes, areKeysOn, (picked) => {
    setCode(picked);
    if (isReady && (!contradicted.has(picked) || picked === code)) send(picked);
  });
  const contradiction = code === null ? undefined : contradicted.get(code);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code === null) setAsked(true);
    else send(code);
  };
  return (
    <Dialog isOpen isPending={isPending} onClose={onClose} title={title} note={note}>
      <form className={styles.form} noValidate onSubmit={submit}>
        <Codes {...{ codes, areKeysOn, contradicted }} chosen={code} onChoose={setCode} />
        {contradiction !== undefined && (
          <p role="alert" className={styles.held}>
            {decide.contradicted(contradiction)}
          </p>
        )}
        <label>
          {decide.note}
          <input
            type="text"
            maxLength={500}
            autoComplete="off"
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
        <PaymentLines lines={lines} onChange={setLines} />
        {isHeld && (
          <label className={styles.choice}>
            <input
              type="checkbox"
              checked={isOverride}
              onChange={({ target }) => setOverride(target.checked)}
            />
            {decide.override}
          </label>
        )}
        {isAsked && code === null && <p role="alert">{decide.chooseCode}</p>}
        {missing.length > 0 && (
          <ul role="alert">
            {missing.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        )}
        {failure !== null && missing.length === 0 && <p role="alert">{failure}</p>}
        <DialogButtons>
          <button type="submit" data-main disabled={isPending || !isReady}>
            {contradiction === undefined ? decide.decide : decide.decideAnyway}
          </button>
          <button type="button" disabled={isPending} onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

/** Inputs that take digits. */
const TYPED = ['text', 'date'];
const NONE: ReadonlyMap<ReasonCode, string> = new Map();

/** The window listens, so that a key counts from the moment that the dialog is there. */
function useNumberKeys(codes: readonly ReasonCode[], areOn: boolean, pick: (code: ReasonCode) => void): void {
  const current = useRef(pick);
  useEffect(() => {
    current.current = pick;
  });
  useEffect(() => {
    if (!areOn) return;
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement && TYPED.includes(event.target.type);
      if (isTyping || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      const picked = codes.find((_, index) => keyOfCode(index, codes.length) === event.key);
      if (picked === undefined) return;
      event.preventDefault();
      current.current(picked);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [codes, areOn]);
}

interface CodesProps {
  readonly codes: readonly ReasonCode[];
  readonly chosen: ReasonCode | null;
  readonly onChoose: (code: ReasonCode) => void;
  readonly areKeysOn: boolean;
  readonly contradicted: ReadonlyMap<ReasonCode, string>;
}

function Codes({ codes, chosen, onChoose, areKeysOn, contradicted }: CodesProps) {
  const { decide, desk } = useTexts();
  return (
    <fieldset className={styles.codes}>
      <legend>{decide.code}</legend>
      {codes.map((code, index) => {
        const key = areKeysOn ? keyOfCode(index, codes.length) : null;
        return (
          <label key={code} className={styles.choice}>
            <input type="radio" name="code" checked={code === chosen} onChange={() => onChoose(code)} />
            {key === null ? <span className={styles.keyless} data-keys /> : <kbd>{key}</kbd>}
            <span>
              {desk.reasonCodes[code]}
              {contradicted.has(code) && (
                <span className={styles.contradicted}> {contradicted.get(code)}</span>
              )}
            </span>
          </label>
        );
      })}
      <p className={styles.hint} data-keys>
        {areKeysOn ? decide.keys : decide.enter}
      </p>
    </fieldset>
  );
}
