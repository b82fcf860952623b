/** The keys of the partner. An owner adds, rotates and revokes them; a new key is shown once. */
import { type FormEvent, useState } from 'react';
import { Card } from '../../console/src/base-ui/card.tsx';
import { SecretDialog } from '../../console/src/base-ui/secret-dialog.tsx';
import { useFormat } from '../../console/src/format/format.ts';
import { useTexts } from '../../console/src/texts/texts.ts';
import type { IssuedKey, Key } from '../../src/subjects/partners/routes/forms.ts';
import { doing, type Keys, type Person, useActing, useReading } from './api.ts';
import { Confirm } from './confirm.tsx';
import styles from './portal.module.css';
import { Page, Read, Table } from './shown.tsx';
import { useFailure, usePortalTexts } from './texts.ts';

type Shown = Keys['keys'][number];

const KEYS = '/keys';

export function KeysPage({ person }: { person: Person }) {
  const { frame } = useTexts();
  const { pages, once, keys: texts } = usePortalTexts();
  const [issued, setIssued] = useState<string | null>(null);
  const isOwner = person.role === 'owner';
  return (
    <Page title={pages.keys}>
      <Read of={useReading<Keys>(KEYS)}>
        {({ keys }) => (
          <>
            <Card title={texts.title}>
              {!isOwner && <p>{texts.onlyOwner}</p>}
              <KeyTable keys={keys} isOwner={isOwner} onIssued={setIssued} />
            </Card>
            {isOwner && keys.some(({ status }) => status === 'live') && (
              <Card title={texts.add}>
                <AddKey keys={keys.filter(({ status }) => status === 'live')} onIssued={setIssued} />
              </Card>
            )}
          </>
        )}
      </Read>
      {issued !== null && (
        <SecretDialog
          title={texts.issued}
          note={<p>{texts.shownOnce}</p>}
          secret={issued}
          texts={{ ...once, close: frame.close }}
          onClose={() => setIssued(null)}
        />
      )}
    </Page>
  );
}

interface OnIssued {
  readonly onIssued: (apiKey: string) => void;
}

function KeyTable({ keys, isOwner, onIssued }: OnIssued & { keys: readonly Shown[]; isOwner: boolean }) {
  const { keys: texts } = usePortalTexts();
  const format = useFormat();
  const [rotating, setRotating] = useState<Shown | null>(null);
  const [revoking, setRevoking] = useState<Shown | null>(null);
  const rotate = useActing(KEYS, async ({ id }: Shown) => {
    const { api_key } = await doing<typeof IssuedKey>('POST', `/keys/${id}/rotate`);
    onIssued(api_key);
  });
  const revoke = useActing(KEYS, ({ id }: Shown) => doing<typeof Key>('POST', `/keys/${id}/revoke`));
  const ends = ({ expires_at, revoked_at }: Shown) => revoked_at ?? expires_at;
  return (
    <>
      <Table
        label={texts.title}
        heads={[texts.key, texts.environment, texts.cap, texts.status, texts.made, texts.ends, texts.acts]}
        none={texts.none}
        lines={keys.map((key) => ({
          id: key.id,
          cells: [
            <code key="hint">{key.hint}…</code>,
            key.environment ?? texts.both,
            key.daily_cap === null ? texts.noCap : format.number(key.daily_cap),
            texts.statuses[key.status],
            format.time(key.created_at),
            ends(key) === null ? '—' : format.time(ends(key)!),
            isOwner && key.status === 'live' ? (
              <span key="acts" className={styles.acts}>
                <button
                  type="button"
                  aria-label={`${texts.rotate}: ${key.hint}`}
                  onClick={() => setRotating(key)}
                >
                  {texts.rotate}
                </button>
                <button
                  type="button"
                  aria-label={`${texts.revoke}: ${key.hint}`}
                  onClick={() => setRevoking(key)}
                >
                  {texts.revoke}
                </button>
              </span>
            ) : (
              '—'
            ),
          ],
        }))}
      />
      <Confirm
        about={rotating}
        act={rotate}
        title={texts.rotateTitle(rotating?.hint ?? '')}
        note={texts.rotateNote}
        label={texts.rotate}
        onClose={() => setRotating(null)}
      />
      <Confirm
        about={revoking}
        act={revoke}
        title={texts.revokeTitle(revoking?.hint ?? '')}
        note={texts.revokeNote}
        label={texts.revoke}
        onClose={() => setRevoking(null)}
      />
    </>
  );
}

const ENVIRONMENTS = ['PRO', 'DEV'] as const;

function AddKey({ keys, onIssued }: OnIssued & { keys: readonly Shown[] }) {
  const { keys: texts } = usePortalTexts();
  const failure = useFailure();
  const [likeId, setLike] = useState(keys[0]!.id);
  const [environment, setEnvironment] = useState('');
  const like = keys.find(({ id }) => id === likeId) ?? keys[0]!;
  const add = useActing(KEYS, async () => {
    const only = like.environment ?? environment;
    const body = { like: like.id, ...(only !== '' && { environment: only }) };
    onIssued((await doing<typeof IssuedKey>('POST', KEYS, body)).api_key);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label>
        {texts.like}
        <select value={like.id} onChange={({ target }) => setLike(Number(target.value))}>
          {keys.map(({ id, hint }) => (
            <option key={id} value={id}>
              {hint}…
            </option>
          ))}
        </select>
      </label>
      <label>
        {texts.environment}
        <select
          value={like.environment ?? environment}
          disabled={like.environment !== null}
          onChange={({ target }) => setEnvironment(target.value)}
        >
          <option value="">{texts.both}</option>
          {ENVIRONMENTS.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" data-main disabled={add.isPending}>
        {texts.add}
      </button>
      {add.error && <p role="alert">{failure(add.error)}</p>}
    </form>
  );
}
