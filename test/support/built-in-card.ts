/** The card of the built-in policy. */
import { cardOfContent } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';

export const BUILT_IN_CARD = cardOfContent(DEFAULT_POLICY);
