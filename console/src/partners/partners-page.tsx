/** The partners: what each one uses of its quota and what it was refused. An admin adds one here. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { PartnersReply } from '../../../src/subjects/partners/routes/forms.ts';
import { actOnPartner, usePartners } from '../api/partners.ts';
import card from '../base-ui/card.module.css';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { UsageBar } from '../charts/usage-bar.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { ActDialog } from './act-dialog.tsx';
import { More } from './more.tsx';
import { useFailure, usePartnerTexts } from './partner-texts.ts';
import styles from './partners.module.css';

export default function PartnersPage() {
  const texts = usePartnerTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const [isAdding, setAdding] = useState(false);
  const { data, error, ...pages } = usePartners();
  const partners = data?.pages.flatMap(({ body }) => body.partners);
  return (
    <div className={styles.page}>
      <PageHeading title={texts.partners}>
        <button type="button" data-main onClick={() => setAdding(true)}>
          {texts.add}
        </button>
      </PageHeading>
      {error && <p role="alert">{failure(error)}</p>}
      {!partners && !error && <p>{frame.loading}</p>}
      {partners?.length === 0 && <p>{texts.none}</p>}
      {partners && partners.length > 0 && <Partners partners={partners} />}
      <More pages={pages} />
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </div>
  );
}

function Partners({ partners }: Pick<PartnersReply, 'partners'>) {
  const texts = usePartnerTexts();
  const format = useFormat();
  return (
    <RowTable
      label={texts.partners}
      heads={[texts.name, texts.country, texts.liveKeys, texts.used, texts.cap, texts.refused]}
      rows={partners.map(({ id, name, country, closed_at, live_keys, used_24h, daily_cap, refused_24h }) => ({
        id,
        cells: [
          <div key="name">
            <Link href={`/partners/${id}`}>{name}</Link>{' '}
            {closed_at !== null && (
              <span className={card.chip} data-state="rejected">
                {texts.closed}
              </span>
            )}
            <UsageBar used={used_24h} cap={daily_cap} />
          </div>,
          country,
          format.number(live_keys),
          format.number(used_24h),
          daily_cap === null ? texts.noCap : format.number(daily_cap),
          format.number(refused_24h),
        ],
      }))}
    />
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const texts = usePartnerTexts();
  const [, open] = useLocation();
  const [name, setName] = useState('');
  const [country, setCountry] = useState('');
  return (
    <ActDialog<{ id: number }>
      title={texts.add}
      button={texts.add}
      isReady={name.trim() !== '' && country.length === 2}
      wrong={texts.wrongPartner}
      onAct={(queries) => actOnPartner(queries, '', { name, country })}
      onDone={({ id }) => open(`/partners/${id}`)}
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
      <label>
        {texts.countryField}
        <input
          size={4}
          maxLength={2}
          autoComplete="off"
          value={country}
          onChange={({ target }) => setCountry(target.value.toUpperCase())}
        />
      </label>
    </ActDialog>
  );
}
