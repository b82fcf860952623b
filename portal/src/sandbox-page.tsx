/** Which phones force which outcomes in the sandbox (D38). */
import { Card } from '../../console/src/base-ui/card.tsx';
import { type Sandbox, useReading } from './api.ts';
import { Page, Read, Table } from './shown.tsx';
import { usePortalTexts } from './texts.ts';

export function SandboxPage() {
  const { pages, sandbox: texts } = usePortalTexts();
  return (
    <Page title={pages.sandbox}>
      <Card title={texts.title}>
        <p>{texts.note}</p>
        <Read of={useReading<Sandbox>('/sandbox')}>
          {({ scenarios }) => (
            <Table
              label={texts.title}
              heads={[texts.phone, texts.outcome, texts.score]}
              none=""
              lines={scenarios.map(({ phone, outcome, score }) => ({
                id: phone,
                cells: [phone, texts.outcomes[outcome], score ?? '—'],
              }))}
            />
          )}
        </Read>
      </Card>
    </Page>
  );
}
