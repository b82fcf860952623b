import type { MessageType } from '../../messages/rules/notify.ts';
import type { Application } from '../rules/fields.ts';
import type { Assessment } from '../rules/scorecard.ts';

/** An application of a batch that may be registered. */
export interface Candidate {
  /** The place in the batch as it was sent, from 0. */
  readonly position: number;
  readonly application: Application;
  readonly assessment: Assessment;
  readonly messageType: MessageType | null;
}
