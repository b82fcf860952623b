/**
 * A policy as it is stored, in either form (D51): the document that it is, the numbers that it decides with, and its
 * card. Pure.
 */
import { type Card, cardOf } from './card.ts';
import { type Constants, constantsOf } from './constants.ts';
import type { PolicyDocument } from './document.ts';
import { constantsOfForm1, documentOfForm1, type Form1 } from './form-1.ts';

export type PolicyContent = Form1 | PolicyDocument;

function isForm1(content: PolicyContent): content is Form1 {
  return !('characteristics' in content);
}

/** The document; what a policy of the first form says in it. */
export function documentOf(content: PolicyContent): PolicyDocument {
  return isForm1(content) ? documentOfForm1(content) : content;
}

/** What is computed once, when the policy is added or first used, and stored with it. */
export function newConstantsOf(content: PolicyContent): Constants {
  return isForm1(content) ? constantsOfForm1(content) : constantsOf(content);
}

/** The card of a policy, with the constants that are stored with it. */
export function cardOfContent(content: PolicyContent, constants: Constants = newConstantsOf(content)): Card {
  return cardOf(documentOf(content), constants);
}
