/** The fixed words of contracts and certificates, in each language of contracts. */
import type { ContractLanguage } from './contract-language.ts';
import type { Fee } from './terms.ts';
import type { WithdrawalPeriod } from './withdrawal.ts';

interface ContractWords {
  /** The columns of the table of installments. */
  readonly schedule: readonly [string, string, string, string, string, string];
  readonly noFees: string;
  readonly when: Readonly<Record<Fee['when'], string>>;
  readonly noWithdrawal: string;
  readonly withdrawal: (period: WithdrawalPeriod) => string;
  readonly demonstration: string;
  /** The foot of a page. */
  readonly page: (page: number, pages: number) => string;
  readonly contract: string;
  readonly certificate: string;
  readonly certificateText: string;
  readonly codeText: (code: string, lender: string) => string;
}

export const CONTRACT_WORDS: Readonly<Record<ContractLanguage, ContractWords>> = {
  es: {
    schedule: ['Mes', 'Cuota', 'Interés', 'Capital', 'Cargos', 'Saldo'],
    noFees: 'ninguno',
    when: { deducted: 'una vez, se descuenta del desembolso', monthly: 'cada mes, dentro de la cuota' },
    noWithdrawal: 'no se pactó un plazo de retracto',
    withdrawal: ({ days, kind }) =>
      `${days} días ${kind === 'business' ? 'hábiles' : 'calendario'} después del día de la firma`,
    demonstration: 'DEMOSTRACIÓN: este documento no obliga a nadie',
    page: (page, pages) => `Página ${page} de ${pages}`,
    contract: 'Contrato',
    certificate: 'Certificado de la firma',
    certificateText:
      'Las páginas anteriores repiten el contrato que se mostró. El contrato mostrado, byte por byte, y los datos de esta página van como archivos adjuntos de este documento.',
    codeText: (code, lender) =>
      `${code} es tu código para firmar el contrato con ${lender}. Vale 10 minutos. No lo compartas con nadie.`,
  },
  pt: {
    schedule: ['Mês', 'Parcela', 'Juros', 'Principal', 'Encargos', 'Saldo'],
    noFees: 'nenhum',
    when: { deducted: 'uma vez, descontado do valor liberado', monthly: 'por mês, dentro da parcela' },
    noWithdrawal: 'não foi combinado prazo de arrependimento',
    withdrawal: ({ days, kind }) =>
      `${days} dias ${kind === 'business' ? 'úteis' : 'corridos'} depois do dia da assinatura`,
    demonstration: 'DEMONSTRAÇÃO: este documento não obriga ninguém',
    page: (page, pages) => `Página ${page} de ${pages}`,
    contract: 'Contrato',
    certificate: 'Certificado da assinatura',
    certificateText:
      'As páginas anteriores repetem o contrato que foi mostrado. O contrato mostrado, byte por byte, e os dados desta página são anexos deste documento.',
    codeText: (code, lender) =>
      `${code} é o seu código para assinar o contrato com ${lender}. Vale 10 minutos. Não passe para ninguém.`,
  },
  en: {
    schedule: ['Month', 'Installment', 'Interest', 'Principal', 'Fees', 'Balance'],
    noFees: 'none',
    when: { deducted: 'once, taken off what is paid out', monthly: 'each month, within the installment' },
    noWithdrawal: 'no withdrawal period was agreed',
    withdrawal: ({ days, kind }) =>
      `${days} ${kind === 'business' ? 'business' : 'calendar'} days after the day of the signature`,
    demonstration: 'DEMONSTRATION: this document binds nobody',
    page: (page, pages) => `Page ${page} of ${pages}`,
    contract: 'Contract',
    certificate: 'Certificate of the signature',
    certificateText:
      'The pages before repeat the contract that was shown. The shown contract, byte by byte, and the data of this page are attached to this document.',
    codeText: (code, lender) =>
      `${code} is your code to sign the contract with ${lender}. It is good for 10 minutes. Give it to nobody.`,
  },
};
