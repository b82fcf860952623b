/** The keys of a partner: made, rotated, capped and revoked here. A new key is shown once. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { PartnerReply } from '../../../src/subjects/partners/routes/forms.ts';
import { actOnPartner, type MadeKey, type ShownKey } from '../api/partners.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { SecretDialog } from '../base-ui/secret-dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { ActDialog } from './act-dialog.tsx';
import { usePartnerTexts } from './partner-texts.ts';
import styles from './partners.module.css';

type Act = 'rotate' | 'cap' | 'revoke';
type Asked = 'issue' | { readonly act: Act; readonly shown: ShownKey };

export function Keys({ partner }: { partner: PartnerReply }) {
  const texts = usePartnerTexts();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { frame } = useTexts();
  const [made, setMade] = useState<MadeKey | null>(null);
  const on = { partner, onClose: () => setAsked(null), onMade: setMade };
  return (
    <Card
      title={texts.keys}
      beside={
        partner.closed_at === null && (
          <button type="button" onClick={() => setAsked('issue')}>
            {texts.issue}
          </button>
        )
      }
    >
      {partner.keys.length === 0 ? (
        <p>{texts.noKeys}</p>
      ) : (
        <KeyTable partner={partner.id} keys={partner.keys} onAct={(act, shown) => setAsked({ act, shown })} />
      )}
      {asked === 'issue' && <IssueDialog {...on} />}
      {asked !== null && asked !== 'issue' && <OnKey {...on} {...asked} />}
      {made && (
        <SecretDialog
          title={texts.newKey(made.id)}
          note={<p>{texts.shownOnce}</p>}
          secret={made.api_key}
          texts={{ ...texts, close: frame.close }}
          onClose={() => setMade(null)}
        />
      )}
    </Card>
  );
}

interface KeyTableProps {
  readonly partner: number;
  readonly keys: readonly ShownKey[];
  readonly onAct: (act: Act, key: ShownKey) => void;
}

function KeyTable({ partner, keys, onAct }: KeyTableProps) {
  const texts = usePartnerTexts();
  const format = useFormat();
  const time = (at: string | null) => (at === null ? '—' : format.time(at));
  return (
    <RowTable
      label={texts.keys}
      heads={[
        ...[texts.key, texts.environment, texts.keyStatus, texts.cap, texts.left, texts.lastUsed],
        ...[texts.made, texts.ends, texts.acts],
      ]}
      rows={keys.map((key) => ({
        id: key.id,
        cells: [
          <span key="key">
            {key.id} <code>{key.hint}…</code>
          </span>,
          key.environment ?? texts.both,
          <span
            key="status"
            className={card.chip}
            data-state={key.status === 'live' ? undefined : 'rejected'}
          >
            {texts.statuses[key.status]}
          </span>,
          key.daily_cap === null ? texts.noCap : format.number(key.daily_cap),
          key.remaining === null || key.status !== 'live' ? '—' : format.number(key.remaining),
          time(key.last_used_at),
          time(key.created_at),
          time(key.revoked_at ?? key.expires_at),
          <KeyActs key="acts" partner={partner} of={key} onAct={onAct} />,
        ],
      }))}
    />
  );
}

/** A dead key still has a brand: messages of its applications go out with it. */
function KeyActs({ partner, of, onAct }: { of: ShownKey } & Pick<KeyTableProps, 'partner' | 'onAct'>) {
  const texts = usePartnerTexts();
  const acts = (['rotate', 'cap', 'revoke'] as const).filter(
    (act) => of.status === 'live' || (act === 'revoke' && of.status === 'forged'),
  );
  return (
    <span className={styles.acts}>
      <Link href={`/partners/${partner}/keys/${of.id}/brand`} aria-label={`${texts.brand}: ${of.id}`}>
        {texts.brand}
      </Link>
      {acts.map((act) => (
        <button
          key={act}
          type="button"
          aria-label={`${texts.keyActs[act]}: ${of.id}`}
          onClick={() => onAct(act, of)}
        >
          {texts.keyActs[act]}
        </button>
      ))}
    </span>
  );
}

interface MakingProps {
  readonly partner: PartnerReply;
  readonly onClose: () => void;
  readonly onMade: (key: MadeKey) => void;
}

/** The number of a field; null: no cap; undefined: it is no number. */
function capOf(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}

function IssueDialog({ partner, onClose, onMade }: MakingProps) {
  const texts = usePartnerTexts();
  const [environment, setEnvironment] = useState<'PRO' | 'DEV' | ''>('PRO');
  const [cap, setCap] = useState('');
  const daily_cap = capOf(cap);
  return (
    <ActDialog<MadeKey>
      title={texts.issue}
      note={<p>{texts.issueNote}</p>}
      button={texts.issue}
      isReady={daily_cap !== undefined}
      wrong={texts.wrongCap}
      onAct={(queries) =>
        actOnPartner(queries, `/${partner.id}/keys`, { environment: environment || null, daily_cap })
      }
      onDone={onMade}
      onClose={onClose}
    >
      <label>
        {texts.environment}
        <select
          value={environment}
          onChange={({ target }) => setEnvironment(target.value as typeof environment)}
        >
          <option value="PRO">{texts.production}</option>
          <option value="DEV">{texts.sandbox}</option>
          <option value="">{texts.both}</option>
        </select>
      </label>
      <CapField value={cap} onChange={setCap} />
    </ActDialog>
  );
}

function CapField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const texts = usePartnerTexts();
  return (
    <label>
      {texts.capField}
      <input
        inputMode="numeric"
        maxLength={9}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

interface OnKeyProps extends MakingProps {
  readonly shown: ShownKey;
}

function OnKey({ act, ...on }: OnKeyProps & { readonly act: Act }) {
  if (act === 'rotate') return <RotateDialog {...on} />;
  return act === 'cap' ? <CapDialog {...on} /> : <RevokeDialog {...on} />;
}

const OVERLAPS = ['0', '1h', '24h', '7d', '30d'] as const;

function RotateDialog({ partner, shown, onClose, onMade }: OnKeyProps) {
  const texts = usePartnerTexts();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('24h');
  return (
    <ActDialog<MadeKey>
      title={texts.rotateTitle(shown.id)}
      note={<p>{texts.rotateNote}</p>}
      button={texts.keyActs.rotate}
      onAct={(queries) => actOnPartner(queries, `/${partner.id}/keys/${shown.id}/rotate`, { overlap })}
      onDone={onMade}
      onClose={onClose}
    >
      <label>
        {texts.overlap}
        <select value={overlap} onChange={({ target }) => setOverlap(target.value as typeof overlap)}>
          {OVERLAPS.map((one) => (
            <option key={one} value={one}>
              {texts.overlaps[one]}
            </option>
          ))}
        </select>
      </label>
    </ActDialog>
  );
}

function CapDialog({ partner, shown, onClose }: OnKeyProps) {
  const texts = usePartnerTexts();
  const [cap, setCap] = useState(shown.daily_cap === null ? '' : `${shown.daily_cap}`);
  const daily_cap = capOf(cap);
  return (
    <ActDialog
      title={texts.capTitle(shown.id)}
      note={<p>{texts.capNote}</p>}
      button={texts.keyActs.cap}
      isReady={daily_cap !== undefined}
      wrong={texts.wrongCap}
      onAct={(queries) => actOnPartner(queries, `/${partner.id}/keys/${shown.id}/cap`, { daily_cap })}
      onClose={onClose}
    >
      <CapField value={cap} onChange={setCap} />
    </ActDialog>
  );
}

/** Says what breaks: who still uses the key, as far as is known. */
function RevokeDialog({ partner, shown, onClose }: OnKeyProps) {
  const texts = usePartnerTexts();
  const format = useFormat();
  const { id, hint, last_used_at: used } = shown;
  return (
    <ActDialog
      title={texts.revokeTitle(id)}
      note={
        <>
          <p>{texts.revokeNote(`${hint}…`)}</p>
          <p>{used === null ? texts.notUsed : texts.usedLast(format.relative(used))}</p>
        </>
      }
      button={texts.keyActs.revoke}
      isGrave
      onAct={(queries) => actOnPartner(queries, `/${partner.id}/keys/${id}/revoke`)}
      onClose={onClose}
    />
  );
}
