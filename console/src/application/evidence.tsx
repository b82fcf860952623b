/** The documents and the observed income side by side: what was sent, and what the reader found in it. */
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';
import { DocumentItem } from './document.tsx';
import { ObservedIncome } from './observed-income.tsx';

interface EvidenceProps {
  readonly application: ApplicationReply;
  readonly revealed: RevealedReply | null;
  readonly mayReveal: boolean;
}

export function Evidence({ application, revealed, mayReveal }: EvidenceProps) {
  const { application: texts } = useTexts();
  const { id, documents } = application;
  return (
    <Card title={texts.evidence}>
      <div className={styles.evidence}>
        <div>
          <h3>{texts.documents}</h3>
          {documents.length === 0 && <p>{texts.none}</p>}
          <ul className={card.list}>
            {documents.map((document) => (
              <DocumentItem key={document.id} application={id} document={document} mayReveal={mayReveal} />
            ))}
          </ul>
        </div>
        <div>
          <h3>{texts.observed}</h3>
          <ObservedIncome application={application} statements={revealed?.income ?? null} />
        </div>
      </div>
    </Card>
  );
}
