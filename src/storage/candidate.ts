import type { Application } from '../domain/application/fields.ts';
import type { MessageType } from '../domain/message/notify.ts';
import type { Assessment } from '../domain/scoring/scorecard.ts';

/** An application of a batch that may be registered. */
export interface Candidate {
  /** The place in the batch as it was sent, from 0. */
  readonly position: number;
  readonly application: Application;
  readonly assessment: Assessment;
  readonly messageType: MessageType | null;
}
