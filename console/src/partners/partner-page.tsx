/** One partner: its usage, its keys, its endpoint, what it was refused and what it asked. */
import { useState } from 'react';
import type { PartnerReply } from '../../../src/subjects/partners/routes/forms.ts';
import { actOnPartner, usePartner } from '../api/partners.ts';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { UsageBar } from '../charts/usage-bar.tsx';
import { useFormat } from '../format/format.ts';
import { durationText } from '../queue/duration.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { ActDialog } from './act-dialog.tsx';
import { Endpoint } from './endpoint.tsx';
import { Keys } from './keys.tsx';
import { useFailure, usePartnerTexts } from './partner-texts.ts';
import styles from './partners.module.css';
import { Refusals } from './refusals.tsx';
import { Requests } from './requests.tsx';

export default function PartnerPage({ id }: { id: string }) {
  const texts = usePartnerTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = usePartner(id);
  const partner = data?.body;
  return (
    <div className={styles.page}>
      <PageHeading title={partner?.name ?? texts.partner(id)} />
      {error && <p role="alert">{failure(error)}</p>}
      {!partner && !error && <p>{frame.loading}</p>}
      {partner && (
        <>
          <Overview partner={partner} />
          <Keys partner={partner} />
          <Endpoint id={id} isOpen={partner.closed_at === null} />
          <Refusals id={id} />
          <Requests path={`/partners/${id}/requests`} />
        </>
      )}
    </div>
  );
}

type Act = 'rename' | 'close' | 'reopen';

function Overview({ partner }: { partner: PartnerReply }) {
  const texts = usePartnerTexts();
  const format = useFormat();
  const language = useLanguage();
  const [act, setAct] = useState<Act | null>(null);
  const {
    closed_at: closedAt,
    used_24h: used,
    daily_cap: cap,
    refused_24h: refused,
    reset_seconds: reset,
  } = partner;
  const onClose = () => setAct(null);
  return (
    <Card
      title={texts.overview}
      beside={closedAt !== null && <span>{texts.closedAt(format.time(closedAt))}</span>}
    >
      <Facts
        facts={[
          [texts.number, partner.id],
          [texts.country, partner.country],
          [texts.added, format.time(partner.created_at)],
          [
            texts.used,
            <>
              {cap === null ? format.number(used) : texts.usedOf(format.number(used), format.number(cap))}
              <UsageBar used={used} cap={cap} />
            </>,
          ],
          [texts.free, cap === null || reset === null ? '—' : durationText(reset * 1_000, language)],
          [texts.refused, format.number(refused)],
        ]}
      />
      <div className={styles.acts}>
        <button type="button" onClick={() => setAct('rename')}>
          {texts.rename}
        </button>
        <button type="button" onClick={() => setAct(closedAt === null ? 'close' : 'reopen')}>
          {closedAt === null ? texts.close : texts.reopen}
        </button>
      </div>
      {act === 'rename' && <RenameDialog partner={partner} onClose={onClose} />}
      {(act === 'close' || act === 'reopen') && (
        <ClosingDialog partner={partner} act={act} onClose={onClose} />
      )}
    </Card>
  );
}

interface DialogProps {
  readonly partner: PartnerReply;
  readonly onClose: () => void;
}

function RenameDialog({ partner, onClose }: DialogProps) {
  const texts = usePartnerTexts();
  const [name, setName] = useState(partner.name);
  return (
    <ActDialog
      title={texts.rename}
      note={<p>{texts.renameNote}</p>}
      button={texts.rename}
      isReady={name.trim() !== ''}
      wrong={texts.wrongName}
      onAct={(queries) => actOnPartner(queries, `/${partner.id}/rename`, { name })}
      onClose={onClose}
    >
      <label>
        {texts.nameField}
        <input
          maxLength={200}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
    </ActDialog>
  );
}

/** Says what breaks, and does it with its button alone. */
function ClosingDialog({ partner, act, onClose }: DialogProps & { act: 'close' | 'reopen' }) {
  const texts = usePartnerTexts();
  const note = act === 'close' ? texts.closeNote(partner.live_keys) : texts.reopenNote;
  return (
    <ActDialog
      title={act === 'close' ? texts.closeTitle(partner.name) : texts.reopenTitle(partner.name)}
      note={<p>{note}</p>}
      button={act === 'close' ? texts.close : texts.reopen}
      isGrave={act === 'close'}
      onAct={(queries) => actOnPartner(queries, `/${partner.id}/${act}`)}
      onClose={onClose}
    />
  );
}
