/** The dialogs that set, rotate and disable an endpoint, and push events to it again. */
import { useState } from 'react';
import type { DeliveriesReply } from '../../../src/subjects/events/push/routes/endpoint.ts';
import { actOnPartner } from '../api/partners.ts';
import { ActDialog } from './act-dialog.tsx';
import { useEndpointTexts } from './endpoint-texts.ts';
import styles from './partners.module.css';

export type EndpointDialogAct = 'set' | 'rotate' | 'resend' | 'disable';

interface DialogProps {
  readonly id: string;
  readonly endpoint: DeliveriesReply['endpoint'];
  /** Gets a secret that was just made. */
  readonly onSecret: (secret: string) => void;
  /** Gets how many events were queued. */
  readonly onResent: (count: number) => void;
  readonly onClose: () => void;
}

export function EndpointDialog({ act, ...props }: DialogProps & { readonly act: EndpointDialogAct }) {
  if (act === 'set') return <SetDialog {...props} />;
  if (act === 'rotate') return <RotateDialog {...props} />;
  return act === 'resend' ? <ResendDialog {...props} /> : <DisableDialog {...props} />;
}

function SetDialog({ id, endpoint, onSecret, onClose }: DialogProps) {
  const texts = useEndpointTexts();
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [isAsked, setAsked] = useState(endpoint?.conversation_events ?? false);
  const title = endpoint === null ? texts.set : texts.change;
  return (
    <ActDialog<{ secret: string | null }>
      title={title}
      note={<p>{texts.setNote}</p>}
      button={title}
      isReady={url.trim() !== ''}
      wrong={texts.wrongUrl}
      onAct={(queries) =>
        actOnPartner(queries, `/${id}/endpoint`, { url: url.trim(), conversation_events: isAsked })
      }
      onDone={({ secret }) => secret !== null && onSecret(secret)}
      onClose={onClose}
    >
      <label>
        {texts.url}
        <input
          type="url"
          maxLength={4_096}
          autoComplete="off"
          spellCheck={false}
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </label>
      <label className={styles.choice}>
        <input type="checkbox" checked={isAsked} onChange={({ target }) => setAsked(target.checked)} />
        {texts.alsoConversations}
      </label>
    </ActDialog>
  );
}

function RotateDialog({ id, endpoint, onSecret, onClose }: DialogProps) {
  const texts = useEndpointTexts();
  return (
    <ActDialog<{ secret: string }>
      title={texts.rotate}
      note={
        <>
          <p>{texts.rotateNote}</p>
          {endpoint !== null && endpoint.old_secret_signs_for_s > 0 && <p>{texts.rotateAgain}</p>}
        </>
      }
      button={texts.rotate}
      onAct={(queries) => actOnPartner(queries, `/${id}/endpoint/rotate`)}
      onDone={({ secret }) => onSecret(secret)}
      onClose={onClose}
    />
  );
}

function ResendDialog({ id, onResent, onClose }: DialogProps) {
  const texts = useEndpointTexts();
  const [from, setFrom] = useState<'time' | 'event'>('time');
  const [time, setTime] = useState('');
  const [after, setAfter] = useState('');
  const start = from === 'event' ? { after: after.trim() } : { since: instantOf(time) };
  return (
    <ActDialog<{ queued: number }>
      title={texts.resend}
      note={<p>{texts.resendNote}</p>}
      button={texts.resend}
      isReady={from === 'event' ? after.trim() !== '' : time !== ''}
      wrong={texts.wrongStart}
      onAct={(queries) => actOnPartner(queries, `/${id}/endpoint/resend`, start)}
      onDone={({ queued }) => onResent(queued)}
      onClose={onClose}
    >
      <label>
        {texts.from}
        <select value={from} onChange={({ target }) => setFrom(target.value as typeof from)}>
          <option value="time">{texts.fromTime}</option>
          <option value="event">{texts.fromEvent}</option>
        </select>
      </label>
      {from === 'time' ? (
        <label>
          {texts.time}
          <input type="datetime-local" value={time} onChange={({ target }) => setTime(target.value)} />
        </label>
      ) : (
        <label>
          {texts.eventId}
          <input
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            value={after}
            onChange={({ target }) => setAfter(target.value)}
          />
        </label>
      )}
    </ActDialog>
  );
}

/** The instant of a time in the zone of the browser. */
function instantOf(time: string): string {
  return time === '' ? '' : new Date(time).toISOString();
}

function DisableDialog({ id, onClose }: DialogProps) {
  const texts = useEndpointTexts();
  return (
    <ActDialog
      title={texts.disableTitle}
      note={<p>{texts.disableNote}</p>}
      button={texts.disable}
      isGrave
      onAct={(queries) => actOnPartner(queries, `/${id}/endpoint/disable`)}
      onClose={onClose}
    />
  );
}
