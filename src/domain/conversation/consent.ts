/**
 * What the question for the consent tells about the lender (D43, D45; docs/conversation.md, "The consent"): its name,
 * what the data is used for, and where the person's rights and the privacy notice are. Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import type { CountryTerms, Terms } from '../loan/terms.ts';
import type { Language, Values } from './flow.ts';

interface ConsentWords {
  /** The purposes, one by one; `bureaus`: where the lender reports to, or null. */
  readonly purposes: (bureaus: string | null) => string;
  /** Stand in where no terms are known: then no offer can be made either, and no document is asked for. */
  readonly lender: string;
  readonly dataRights: string;
  readonly privacyNotice: string;
}

const WORDS: Readonly<Record<Language, ConsentWords>> = {
  es: {
    purposes: (bureaus) =>
      '(1) estudiar tu crédito, (2) preparar y cumplir tu contrato, (3) pagar las deudas que indiques' +
      (bureaus === null
        ? ' y (4) cobrar las cuotas'
        : `, (4) cobrar las cuotas y (5) reportar tus pagos a ${bureaus}`),
    lender: 'quien te presta',
    dataRights: 'en este chat',
    privacyNotice: 'pídelo en este chat',
  },
  pt: {
    purposes: (bureaus) =>
      '(1) analisar o seu crédito, (2) preparar e cumprir o seu contrato, (3) pagar as dívidas que você indicar' +
      (bureaus === null
        ? ' e (4) cobrar as parcelas'
        : `, (4) cobrar as parcelas e (5) informar os seus pagamentos a ${bureaus}`),
    lender: 'quem empresta',
    dataRights: 'nesta conversa',
    privacyNotice: 'peça nesta conversa',
  },
  en: {
    purposes: (bureaus) =>
      '(1) study your credit, (2) prepare and carry out your contract, (3) pay the debts that you name' +
      (bureaus === null
        ? ' and (4) collect the installments'
        : `, (4) collect the installments and (5) report your payments to ${bureaus}`),
    lender: 'the lender',
    dataRights: 'in this chat',
    privacyNotice: 'ask for it in this chat',
  },
};

/** Looks up the terms of a person's country; null: there are none. */
export function termsIn(terms: Terms | null): (country: Country | null) => CountryTerms | null {
  return (country) => (country && terms?.countries[country]) ?? null;
}

/** The values of the question, by the terms of the person's country; null: there are none. */
export function consentValues(language: Language, terms: CountryTerms | null): Values {
  const words = WORDS[language];
  return {
    lender: terms?.lender.name ?? words.lender,
    purposes: words.purposes(terms?.bureaus ?? null),
    data_rights: terms?.data_rights ?? words.dataRights,
    privacy_notice: terms?.privacy_notice ?? words.privacyNotice,
  };
}
