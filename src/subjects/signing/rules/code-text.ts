/**
 * The text of a one-time code (D46). Pure. It fits one part of an SMS: 160 characters of the GSM alphabet (3GPP TS
 * 23.038, 6.2.1). One other character leaves room for fewer than half, and each further part costs money.
 */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import { CONTRACT_WORDS } from './contract-words.ts';

/** The alphabet without those characters that count twice. */
const GSM = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿' +
    'abcdefghijklmnopqrstuvwxyzäöñüà\n',
);
const MOST = 160;

/** The text in one part of an SMS. The lender's name loses its accents; a long name loses its end. */
export function codeText(language: ContractLanguage, code: string, lender: string): string {
  const text = (name: string) => CONTRACT_WORDS[language].codeText(code, name);
  // The sentence around the name has its own full stop.
  const name = inGsm(lender).replace(/\.$/, '');
  return text(name.slice(0, MOST - text('').length).trim());
}

/** Whether all characters of a text are of the GSM alphabet and count once. */
export function isGsm(text: string): boolean {
  return [...text].every((letter) => GSM.has(letter));
}

function inGsm(text: string): string {
  const letters = [...text.normalize('NFKC')].map((letter) =>
    GSM.has(letter) ? letter : [...letter.normalize('NFD')].filter((part) => GSM.has(part)).join(''),
  );
  return letters.join('').trim();
}
