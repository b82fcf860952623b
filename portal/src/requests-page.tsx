/** What the partner asked in the last seven days; one request is found by its X-Request-Id. */
import { Requests } from '../../console/src/partners/requests.tsx';
import { Page } from './shown.tsx';
import { usePortalTexts } from './texts.ts';

export default function RequestsPage() {
  const texts = usePortalTexts();
  return (
    <Page title={texts.pages.requests}>
      <Requests path="/requests" />
    </Page>
  );
}
