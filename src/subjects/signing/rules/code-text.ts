/**
 * The text of a one-time code (D46). Pure. An SMS has 160 characters of the GSM alphabet (3GPP TS 23.038, 6.2.1). One
 * other character halves that and more, and each further part is paid for.
 */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import { CONTRACT_WORDS } from './contract-words.ts';

/** The alphabet without the characters that count twice. */
const GSM = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿' +
    'abcdefghijklmnopqrstuvwxyzäöñüà\n',
);
const MOST = 160;

/** The text in one part of an SMS: the name of the lender loses accents, and its end where it is long. */
export function codeText(language: ContractLanguage, code: string, lender: string): string {
  const text = (name: string) => CONTRACT_WORDS[language].codeText(code, name);
  // The sentence has a full stop of its own.
  const name = inGsm(lender).replace(/\.$/, '');
  return text(name.slice(0, MOST - text('').length).trim());
}

/** Whether a text has letters of the GSM alphabet alone, each of which counts once. */
export function isGsm(text: string): boolean {
  return [...text].every((letter) => GSM.has(letter));
}

function inGsm(text: string): string {
  const letters = [...text.normalize('NFKC')].map((letter) =>
    GSM.has(letter) ? letter : [...letter.normalize('NFD')].filter((part) => GSM.has(part)).join(''),
  );
  return letters.join('').trim();
}
