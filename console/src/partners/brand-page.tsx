/** The brand of a key: a form with each fault at its field, and beside it the messages as the applicant sees them. */
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { TemplateKind } from '../../../src/domain/message/notify.ts';
import type { Brand } from '../../../src/domain/partner/brand.ts';
import type { BrandReply } from '../../../src/subjects/partners/routes/brand.ts';
import { AnswerError } from '../api/ask.ts';
import { saveBrand, useBrand, useBrandLook } from '../api/partners.ts';
import { Card } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { browserClock } from '../clock.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './brand.module.css';
import { BrandForm } from './brand-form.tsx';
import { withTemplateParts } from './brand-parts.ts';
import { Previews, Templates } from './brand-preview.tsx';
import { useBrandTexts } from './brand-texts.ts';
import { useFailure } from './partner-texts.ts';

export default function BrandPage({ partner, id }: { partner: string; id: string }) {
  const texts = useBrandTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error, refetch } = useBrand(partner, id);
  const [readings, setReadings] = useState(0);
  const again = async () => {
    await refetch();
    setReadings(readings + 1);
  };
  return (
    <div className={styles.page}>
      <PageHeading title={texts.title(id)}>
        <Link href={`/partners/${partner}`}>{data?.body.partner.name ?? texts.back}</Link>
      </PageHeading>
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {data && <Editor key={readings} read={data.body} onAgain={() => void again()} />}
    </div>
  );
}

/** The pause in typing after which the service looks at the brand. */
const PAUSE_MS = 300;

function Editor({ read, onAgain }: { read: BrandReply; onAgain: () => void }) {
  const texts = useBrandTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const [partner, id] = [`${read.partner.id}`, `${read.key_id}`];
  const [stored, setStored] = useState<Brand>(read.brand);
  const [brand, setBrand] = useState(() => withTemplateParts(read.brand));
  const [isJson, setJson] = useState(true);
  const kinds = Object.keys(read.defaults.texts) as TemplateKind[];
  const [kind, setKind] = useState<TemplateKind>('approved');
  const asked = useAfterPause(brand);
  const { data, error, isFetching } = useBrandLook(partner, id, asked);
  const faults = data?.body.faults ?? [];
  const shown = data?.body.shown ?? null;
  const saving = useMutation({
    mutationFn: () => saveBrand(partner, id, brand, stored),
    onSuccess: (saved) => setStored(saved.brand),
  });
  const isChecked = asked === brand && !isFetching && isJson && faults.length === 0;
  const hasChanged = saving.error instanceof AnswerError && saving.error.body?.code === 'brand_changed';
  return (
    <>
      <p>{texts.intro}</p>
      <div className={styles.columns}>
        <BrandForm
          brand={brand}
          defaults={read.defaults}
          faults={faults}
          kinds={<KindChoice kind={kind} kinds={kinds} onChoose={setKind} />}
          kind={kind}
          isJson={isJson}
          onJson={setJson}
          onChange={(next) => {
            saving.reset();
            setBrand(next);
          }}
        />
        <Card title={texts.preview}>
          {error && <p role="alert">{failure(error)}</p>}
          {!data && !error && <p>{frame.loading}</p>}
          {data && shown === null && <p>{texts.withFaults}</p>}
          {shown && <Previews previews={shown.previews} kind={kind} />}
        </Card>
      </div>
      <div className={styles.save}>
        <button
          type="button"
          data-main
          disabled={!isChecked || saving.isPending}
          onClick={() => saving.mutate()}
        >
          {texts.save}
        </button>
        <p role="status">
          {saving.isSuccess && texts.saved}
          {(faults.length > 0 || !isJson) && texts.hasFaults}
        </p>
        {saving.error && <p role="alert">{hasChanged ? texts.changed : failure(saving.error)}</p>}
        {hasChanged && (
          <button type="button" onClick={onAgain}>
            {texts.again}
          </button>
        )}
      </div>
      {shown && <Templates {...shown} />}
    </>
  );
}

/** The brand as it was when nobody had changed it for a while. */
function useAfterPause(brand: Brand): Brand {
  const [asked, setAsked] = useState(brand);
  useEffect(() => {
    const timer = browserClock.after(PAUSE_MS, () => setAsked(brand));
    return () => timer.cancel();
  }, [brand]);
  return asked;
}

interface KindChoiceProps {
  readonly kind: TemplateKind;
  readonly kinds: readonly TemplateKind[];
  readonly onChoose: (kind: TemplateKind) => void;
}

function KindChoice({ kind, kinds, onChoose }: KindChoiceProps) {
  const texts = useBrandTexts();
  return (
    <label>
      {texts.kind}
      <select value={kind} onChange={({ target }) => onChoose(target.value as TemplateKind)}>
        {kinds.map((one) => (
          <option key={one} value={one}>
            {texts.kinds[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
