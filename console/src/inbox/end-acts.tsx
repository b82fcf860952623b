/** Taking a conversation over from the service, handing it back at a step, and closing it. */
import { type FormEvent, useState } from 'react';
import type { Step } from '../../../src/domain/conversation/places.ts';
import { failureText } from '../api/failure.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useTexts } from '../texts/texts.ts';
import { useAct } from './act.ts';

export function TakeOver({ id }: { id: string }) {
  const texts = useTexts();
  const taking = useAct(id);
  return (
    <>
      {taking.isError && <p role="alert">{failureText(taking.error, texts)}</p>}
      <button type="button" disabled={taking.isPending} onClick={() => taking.mutate({ act: 'hand-over' })}>
        {texts.inbox.takeOver}
      </button>
    </>
  );
}

/** `steps`: where the service can go on, the present step last; none: the conversation has ended. */
export function HandBack({ id, steps }: { id: string; steps: readonly Step[] }) {
  const texts = useTexts();
  const { inbox, codes } = texts;
  const giving = useAct(id);
  const [step, setStep] = useState(steps.at(-1));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    giving.mutate({ act: 'give-back', ...(step !== undefined && { step }) });
  };
  return (
    <Card title={inbox.handBack}>
      <form className={card.form} onSubmit={submit}>
        {steps.length > 0 && (
          <label>
            {inbox.backAt}
            <select value={step} onChange={({ target }) => setStep(target.value as Step)}>
              {steps.map((one) => (
                <option key={one} value={one}>
                  {codes.places[one]}
                </option>
              ))}
            </select>
          </label>
        )}
        {giving.isError && <p role="alert">{failureText(giving.error, texts)}</p>}
        <div>
          <button type="submit" disabled={giving.isPending}>
            {inbox.give}
          </button>
        </div>
      </form>
    </Card>
  );
}

export function CloseConversation({ id }: { id: string }) {
  const texts = useTexts();
  const { inbox } = texts;
  const closing = useAct(id);
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    closing.mutate({ act: 'close', reason: reason.trim() });
  };
  return (
    <Card title={inbox.close}>
      <form className={card.form} onSubmit={submit}>
        <label>
          {inbox.closeReason}
          <input
            required
            minLength={5}
            maxLength={500}
            autoComplete="off"
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
        {closing.isError && <p role="alert">{failureText(closing.error, texts, { 400: inbox.badReason })}</p>}
        <div>
          <button type="submit" disabled={closing.isPending}>
            {inbox.closeIt}
          </button>
        </div>
      </form>
    </Card>
  );
}
