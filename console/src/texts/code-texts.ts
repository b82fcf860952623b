/** The codes of the API that have a text in each language. */
import type { DEBT_AGES } from '../../../src/domain/application/fields.ts';
import type { DocumentReason } from '../../../src/domain/document/document.ts';
import type { Reason } from '../../../src/domain/message/reasons.ts';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { PEND_ENDS, PEND_MESSAGES } from '../../../src/subjects/desk/rules/pend.ts';
import type { IncomeReason } from '../../../src/subjects/income/rules/judge-income.ts';

type Named<Code extends string | null> = Readonly<Record<NonNullable<Code>, string>>;
type Conversation = NonNullable<ApplicationReply['chat']['conversation']>;

export interface CodeTexts {
  readonly criteria: Named<ApplicationReply['criteria'][number]['criterion']>;
  readonly statuses: Named<ApplicationReply['status']>;
  readonly decisions: Named<ApplicationReply['decision']>;
  readonly acts: Named<ApplicationReply['timeline'][number]['act']>;
  readonly purposes: Named<ApplicationReply['documents'][number]['purpose']>;
  readonly documentStates: Named<ApplicationReply['documents'][number]['state']>;
  readonly outcomes: Named<NonNullable<ApplicationReply['observed_income']>['outcome']>;
  readonly debtAges: Named<(typeof DEBT_AGES)[number]>;
  readonly offerStates: Named<NonNullable<ApplicationReply['offer']>['state']>;
  readonly pendMessages: Named<(typeof PEND_MESSAGES)[number]>;
  readonly pendEnds: Named<(typeof PEND_ENDS)[number]>;
  /** Where a conversation is. */
  readonly places: Named<Conversation['step']>;
  /** What an applicant sends. */
  readonly inputKinds: Named<'interest' | 'text' | 'tap' | 'file' | 'other' | 'opted_out' | 'handed_on'>;
  readonly messageTypes: Named<ApplicationReply['chat']['messages'][number]['type']>;
  readonly messageStatuses: Named<ApplicationReply['chat']['messages'][number]['status']>;
  /** Codes of the channel and of connections are shown as they are. */
  readonly messageReasons: Named<Reason>;
  readonly documentReasons: Named<DocumentReason>;
  readonly incomeReasons: Named<IncomeReason>;
}
