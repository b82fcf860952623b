/**
 * The fixed words of contracts and certificates, in each language of contracts. Pure. Templates have the rest
 * (`rules/default-contracts.ts`).
 */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import type { CountryTerms, Fee } from '../../../domain/loan/terms.ts';
import type { WithdrawalPeriod } from '../../../domain/loan/withdrawal.ts';

/** The columns of the table of installments, in their order. */
export const SCHEDULE_COLUMNS = [
  ...(['month', 'due', 'payment', 'principal', 'interest', 'tax', 'insurance', 'fee', 'balance'] as const),
] as const;
type ScheduleColumn = (typeof SCHEDULE_COLUMNS)[number];

/** The rates of late interest as people read them, and what else holds for it. */
interface LateRates {
  readonly monthly: string;
  readonly yearly: string;
  /** It never passes the legal maximum of the month. */
  readonly isLimited: boolean;
  /** Its tax, such as `IVA (16 %)`; null: none. */
  readonly tax: string | null;
}

interface ContractWords {
  /** The columns of the table of installments. */
  readonly schedule: Readonly<Record<ScheduleColumn, string>>;
  /** Whom the loan pays: nobody, or the mandate before the list; and the word for a creditor's number. */
  readonly noDebts: string;
  readonly mandate: string;
  readonly reference: string;
  readonly noFees: string;
  readonly when: Readonly<Record<Fee['when'], string>>;
  readonly noWithdrawal: string;
  /** The period, and how the applicant withdraws. */
  readonly withdrawal: (period: WithdrawalPeriod) => string;
  /** Taxes on interest and fees. */
  readonly noTax: string;
  readonly tax: (name: string, percent: string) => string;
  /** Interest for late payment. */
  readonly noLateRate: string;
  readonly lateRate: (rates: LateRates) => string;
  /** When the lender may ask for the whole balance. */
  readonly noAcceleration: string;
  readonly acceleration: (after: NonNullable<CountryTerms['acceleration']>) => string;
  readonly reported: (bureaus: string) => string;
  readonly demonstration: string;
  /** The foot of a page. */
  readonly page: (page: number, pages: number) => string;
  readonly contract: string;
  readonly certificate: string;
  readonly certificateText: string;
  /** Above the words of each annex. */
  readonly annexes: Readonly<Record<'consent' | 'offer', string>>;
  readonly finalSchedule: string;
  readonly finalScheduleText: (paid: {
    readonly contract: string;
    readonly lender: string;
    readonly amount: string;
    readonly day: string;
  }) => string;
  /** Above the rows of evidence. */
  readonly evidence: string;
  /** What the certificate says to people. */
  readonly certified: {
    readonly application: string;
    readonly sha256: string;
    readonly accepted: string;
    readonly idChecked: string;
    readonly codeChecked: string;
    readonly signed: string;
    readonly withdrawable: string;
    readonly ways: Readonly<Record<'sms' | 'channel' | 'simulator', string>>;
  };
  /** Only in letters of the SMS alphabet, so without most accents (`code-text.ts`). */
  readonly codeText: (code: string, lender: string) => string;
}

export const CONTRACT_WORDS: Readonly<Record<ContractLanguage, ContractWords>> = {
  es: {
    schedule: {
      month: 'N.º',
      due: 'Vence',
      payment: 'Cuota',
      principal: 'Capital',
      interest: 'Interés',
      tax: 'Impuesto',
      insurance: 'Seguro',
      fee: 'Cargos',
      balance: 'Saldo',
    },
    noDebts: 'ninguna; el crédito no paga deudas con otros acreedores',
    mandate: 'el deudor encarga al acreedor que las pague en su nombre con este crédito',
    reference: 'referencia',
    noFees: 'ninguno',
    when: {
      deducted: 'una vez, se descuenta del desembolso',
      financed: 'una vez, dentro del valor del crédito',
      monthly: 'cada mes, dentro de la cuota',
    },
    noWithdrawal: 'no se pactó un plazo de retracto',
    withdrawal: ({ days, kind }) =>
      `${days} días ${kind === 'business' ? 'hábiles' : 'calendario'} después del día de la firma; basta escribir ` +
      'RETRACTO en el chat de este contrato o avisar al acreedor, sin dar razones',
    noTax: 'los intereses no tienen impuesto; los cargos se muestran con el suyo',
    tax: (name, percent) => `${name} de ${percent} sobre los intereses, los intereses de mora y los cargos`,
    noLateRate: 'no se cobran',
    lateRate: ({ monthly, yearly, isLimited, tax }) =>
      `${monthly} mensual (${yearly} efectivo anual), solo sobre el capital vencido y desde el día siguiente al ` +
      `vencimiento${isLimited ? ', sin pasar nunca de la tasa máxima legal del mes' : ''}${tax === null ? '' : `, más ${tax}`}`,
    noAcceleration: 'una mora no permite exigir el saldo que todavía no vence',
    acceleration: (after) =>
      'days' in after
        ? `con ${after.days} días de mora el acreedor puede exigir todo el saldo`
        : `con ${after.installments} cuotas sin pagar el acreedor puede exigir todo el saldo`,
    reported: (bureaus) => `la mora se puede reportar, con aviso previo al deudor, a ${bureaus}`,
    demonstration: 'DEMOSTRACIÓN: este documento no obliga a nadie',
    page: (page, pages) => `Página ${page} de ${pages}`,
    contract: 'Contrato',
    certificate: 'Certificado de la firma',
    certificateText:
      'Las páginas anteriores repiten el contrato que se mostró. El contrato mostrado, byte por byte, los datos de esta página y las palabras de la autorización y de la oferta van como archivos adjuntos de este documento.',
    annexes: {
      consent: 'Anexo: la autorización que se dio, como se leyó en el chat',
      offer: 'Anexo: la oferta que se aceptó, como se leyó en el chat',
    },
    finalSchedule: 'Calendario final de pagos',
    finalScheduleText: ({ contract, lender, amount, day }) =>
      `El crédito de ${amount} del contrato ${contract} con ${lender} se desembolsó el ${day}. Cada cuota vence en la fecha ` +
      'de esta tabla. Las cuotas son las del contrato.',
    evidence: 'Registro de la evidencia',
    certified: {
      application: 'solicitud',
      sha256: 'Huella SHA-256 del contrato mostrado',
      accepted: 'Contrato aceptado',
      idChecked: 'Últimos cuatro caracteres del documento confirmados',
      codeChecked: 'Código de un solo uso confirmado',
      signed: 'Firmado',
      withdrawable: 'Último día para retractarse',
      ways: { sms: 'SMS', channel: 'en el mismo chat', simulator: 'segundo teléfono del simulador' },
    },
    codeText: (code, lender) =>
      `${code} es tu clave para firmar el contrato con ${lender}. Ponla solo en el chat del contrato. Vale 10 minutos. ` +
      'Nunca la des a nadie.',
  },
  pt: {
    schedule: {
      month: 'N.º',
      due: 'Vence',
      payment: 'Parcela',
      principal: 'Principal',
      interest: 'Juros',
      tax: 'Imposto',
      insurance: 'Seguro',
      fee: 'Encargos',
      balance: 'Saldo',
    },
    noDebts: 'nenhuma; o crédito não paga dívidas com outros credores',
    mandate: 'o devedor encarrega o credor de pagá-las em seu nome com este crédito',
    reference: 'referência',
    noFees: 'nenhum',
    when: {
      deducted: 'uma vez, descontado do valor liberado',
      financed: 'uma vez, dentro do valor do crédito',
      monthly: 'por mês, dentro da parcela',
    },
    noWithdrawal: 'não foi combinado prazo de arrependimento',
    withdrawal: ({ days, kind }) =>
      `${days} dias ${kind === 'business' ? 'úteis' : 'corridos'} depois do dia da assinatura; basta escrever ` +
      'DESISTO na conversa deste contrato ou avisar o credor, sem dar razões',
    noTax: 'os juros não têm imposto; os encargos são mostrados com o seu',
    tax: (name, percent) => `${name} de ${percent} sobre os juros, os juros de mora e os encargos`,
    noLateRate: 'não são cobrados',
    lateRate: ({ monthly, yearly, isLimited, tax }) =>
      `${monthly} ao mês (${yearly} efetivos ao ano), apenas sobre o principal vencido e desde o dia seguinte ao ` +
      `vencimento${isLimited ? ', sem nunca passar da taxa máxima legal do mês' : ''}${tax === null ? '' : `, mais ${tax}`}`,
    noAcceleration: 'um atraso não permite exigir o saldo que ainda não venceu',
    acceleration: (after) =>
      'days' in after
        ? `com ${after.days} dias de atraso o credor pode exigir todo o saldo`
        : `com ${after.installments} parcelas sem pagar o credor pode exigir todo o saldo`,
    reported: (bureaus) => `o atraso pode ser informado, com aviso prévio ao devedor, a ${bureaus}`,
    demonstration: 'DEMONSTRAÇÃO: este documento não obriga ninguém',
    page: (page, pages) => `Página ${page} de ${pages}`,
    contract: 'Contrato',
    certificate: 'Certificado da assinatura',
    certificateText:
      'As páginas anteriores repetem o contrato que foi mostrado. O contrato mostrado, byte por byte, os dados desta página e as palavras da autorização e da oferta são anexos deste documento.',
    annexes: {
      consent: 'Anexo: a autorização que foi dada, como foi lida na conversa',
      offer: 'Anexo: a oferta que foi aceita, como foi lida na conversa',
    },
    finalSchedule: 'Calendário final de pagamentos',
    finalScheduleText: ({ contract, lender, amount, day }) =>
      `O crédito de ${amount} do contrato ${contract} com ${lender} foi liberado em ${day}. Cada parcela vence na data desta ` +
      'tabela. As parcelas são as do contrato.',
    evidence: 'Registro das evidências',
    certified: {
      application: 'pedido',
      sha256: 'Impressão SHA-256 do contrato mostrado',
      accepted: 'Contrato aceito',
      idChecked: 'Últimos quatro caracteres do documento confirmados',
      codeChecked: 'Código de uso único confirmado',
      signed: 'Assinado',
      withdrawable: 'Último dia para desistir',
      ways: { sms: 'SMS', channel: 'na mesma conversa', simulator: 'segundo telefone do simulador' },
    },
    codeText: (code, lender) =>
      `${code} é a senha para assinar o contrato com ${lender}. Use apenas no chat do contrato. Vale 10 minutos. ` +
      'Nunca passe a ninguém.',
  },
  en: {
    schedule: {
      month: 'No.',
      due: 'Due',
      payment: 'Installment',
      principal: 'Principal',
      interest: 'Interest',
      tax: 'Tax',
      insurance: 'Insurance',
      fee: 'Fees',
      balance: 'Balance',
    },
    noDebts: 'none; the loan pays no debts to other creditors',
    mandate: 'the borrower instructs the lender to pay them in the name of the borrower with this loan',
    reference: 'reference',
    noFees: 'none',
    when: {
      deducted: 'once, taken off what is paid out',
      financed: 'once, within the amount of the loan',
      monthly: 'each month, within the installment',
    },
    noWithdrawal: 'no withdrawal period was agreed',
    withdrawal: ({ days, kind }) =>
      `${days} ${kind === 'business' ? 'business' : 'calendar'} days after the day of the signature; it is enough to ` +
      'write WITHDRAW in the chat of this contract or to tell the lender, without reasons',
    noTax: 'interest has no tax; fees are told with theirs',
    tax: (name, percent) => `${name} of ${percent} on interest, late interest and fees`,
    noLateRate: 'none is asked for',
    lateRate: ({ monthly, yearly, isLimited, tax }) =>
      `${monthly} a month (${yearly} effective a year), only on principal that is overdue and from the day after it was ` +
      `due${isLimited ? ', and never above the legal maximum of the month' : ''}${tax === null ? '' : `, and ${tax} on it`}`,
    noAcceleration: 'a late payment does not let the lender ask for the balance that is not due yet',
    acceleration: (after) =>
      'days' in after
        ? `after ${after.days} days of delay the lender may ask for the whole balance`
        : `after ${after.installments} unpaid installments the lender may ask for the whole balance`,
    reported: (bureaus) => `the delay may be reported, after a notice to the borrower, to ${bureaus}`,
    demonstration: 'DEMONSTRATION: this document binds nobody',
    page: (page, pages) => `Page ${page} of ${pages}`,
    contract: 'Contract',
    certificate: 'Certificate of the signature',
    certificateText:
      'The pages before repeat the contract that was shown. The shown contract, byte by byte, the data of this page, and the words of the consent and of the offer are attached to this document.',
    annexes: {
      consent: 'Annex: the consent that was given, as it was read in the chat',
      offer: 'Annex: the offer that was accepted, as it was read in the chat',
    },
    finalSchedule: 'Final schedule of payments',
    finalScheduleText: ({ contract, lender, amount, day }) =>
      `The loan of ${amount} of the contract ${contract} with ${lender} was paid out on ${day}. Each installment is due on ` +
      'the date in this table. The installments are those of the contract.',
    evidence: 'Record of the evidence',
    certified: {
      application: 'application',
      sha256: 'SHA-256 of the contract that was shown',
      accepted: 'Contract accepted',
      idChecked: 'Last four characters of the ID number confirmed',
      codeChecked: 'One-time code confirmed',
      signed: 'Signed',
      withdrawable: 'Last day to withdraw',
      ways: { sms: 'SMS', channel: 'in the same chat', simulator: 'second phone of the simulator' },
    },
    codeText: (code, lender) =>
      `${code} is your code to sign the contract with ${lender}. Use it only in the chat of the contract, within ` +
      '10 minutes. Never share it.',
  },
};
