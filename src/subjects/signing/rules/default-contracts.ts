/**
 * The built-in contract templates (docs/signing.md, "Terms"). Pure. They show the form; the operator's counsel decides
 * whether a text is enough for the law of a country.
 */
import type { ContractTemplate } from '../../../domain/loan/contract-template.ts';

export const DEFAULT_CONTRACTS: Readonly<Record<string, ContractTemplate>> = {
  'standard-es': {
    version: '4',
    language: 'es',
    title: 'Contrato de crédito',
    sections: [
      {
        title: '1. Partes',
        paragraphs: [
          'Acreedor: {lender}, identificado con {lender_number}, con domicilio en {lender_address}.',
          'Deudor: {name}, con documento de identidad {id_number}, de {city}. La solicitud llegó por {partner}.',
        ],
      },
      {
        title: '2. Crédito y costos',
        paragraphs: [
          'Valor del crédito: {amount} ({currency}). Valor que se desembolsa: {net}.',
          'Número de cuotas mensuales: {months}. Valor de cada cuota: {installment}. Total por pagar: {total}.',
          'Tasa de interés: {monthly_rate} mensual; {interest_rate_name}: {interest_rate}. Costo anual con todos los cargos ({rate_name}): {annual_rate}.',
          'Cargos: {fees}. Impuestos: {tax}.',
        ],
      },
      {
        title: '3. Destino y pago',
        paragraphs: [
          'Deudas que paga el crédito: {creditors}. Valor que recibe el deudor: {to_applicant}.',
          'El desembolso está previsto para el {disbursement}. El deudor paga al acreedor las cuotas de la tabla, una cada mes: la primera vence el {first_due} y la última el {last_due}. Si el desembolso es otro día, las cuotas vencen ese día de cada mes. El deudor puede pagar antes, en todo o en parte, y entonces paga intereses solo por el tiempo transcurrido.',
          'Forma y lugar de pago: {payment}.',
        ],
      },
      {
        title: '4. Mora',
        paragraphs: ['Intereses de mora: {late_rate}.', 'Si el deudor se atrasa: {late_consequences}.'],
      },
      { title: '5. Retracto', paragraphs: ['Plazo de retracto: {withdrawal}.'] },
      {
        title: '6. Quejas y vigilancia',
        paragraphs: ['Quejas y reclamos: {complaints}.', 'Autoridad que vigila al acreedor: {supervisor}.'],
      },
      {
        title: '7. Firma',
        paragraphs: [
          'Este contrato, número {contract}, se hizo el {date} y se puede firmar hasta el {expires}. El deudor lo firma por medios electrónicos: acepta este documento, confirma los cuatro últimos caracteres de su documento de identidad y escribe un código de un solo uso.',
        ],
      },
      { title: '8. Tabla de cuotas', paragraphs: [], schedule: true },
    ],
  },
  'standard-pt': {
    version: '4',
    language: 'pt',
    title: 'Contrato de crédito',
    sections: [
      {
        title: '1. Partes',
        paragraphs: [
          'Credor: {lender}, identificado por {lender_number}, com endereço em {lender_address}.',
          'Devedor: {name}, com documento de identidade {id_number}, de {city}. O pedido chegou por {partner}.',
        ],
      },
      {
        title: '2. Crédito e custos',
        paragraphs: [
          'Valor do crédito: {amount} ({currency}). Valor liberado: {net}.',
          'Número de parcelas mensais: {months}. Valor de cada parcela: {installment}. Total a pagar: {total}.',
          'Taxa de juros: {monthly_rate} ao mês; {interest_rate_name}: {interest_rate}. Custo anual com todos os encargos ({rate_name}): {annual_rate}.',
          'Encargos: {fees}. Impostos: {tax}.',
        ],
      },
      {
        title: '3. Destino e pagamento',
        paragraphs: [
          'Dívidas que o crédito paga: {creditors}. Valor que o devedor recebe: {to_applicant}.',
          'A liberação está prevista para {disbursement}. O devedor paga ao credor as parcelas da tabela, uma por mês: a primeira vence em {first_due} e a última em {last_due}. Se a liberação for em outro dia, as parcelas vencem nesse dia de cada mês. O devedor pode pagar antes, no todo ou em parte, e então paga juros apenas pelo tempo decorrido.',
          'Forma e lugar de pagamento: {payment}.',
        ],
      },
      {
        title: '4. Atraso',
        paragraphs: ['Juros de mora: {late_rate}.', 'Se o devedor se atrasar: {late_consequences}.'],
      },
      { title: '5. Arrependimento', paragraphs: ['Prazo de arrependimento: {withdrawal}.'] },
      {
        title: '6. Reclamações e supervisão',
        paragraphs: ['Reclamações: {complaints}.', 'Autoridade que supervisiona o credor: {supervisor}.'],
      },
      {
        title: '7. Assinatura',
        paragraphs: [
          'Este contrato, número {contract}, foi feito em {date} e pode ser assinado até {expires}. O devedor assina por meio eletrônico: aceita este documento, confirma os quatro últimos caracteres do seu documento de identidade e escreve um código de uso único.',
        ],
      },
      { title: '8. Tabela de parcelas', paragraphs: [], schedule: true },
    ],
  },
  'standard-en': {
    version: '4',
    language: 'en',
    title: 'Loan contract',
    sections: [
      {
        title: '1. Parties',
        paragraphs: [
          'Lender: {lender}, number {lender_number}, at {lender_address}.',
          'Borrower: {name}, ID number {id_number}, of {city}. The application came through {partner}.',
        ],
      },
      {
        title: '2. Loan and costs',
        paragraphs: [
          'Amount of the loan: {amount} ({currency}). Amount paid out: {net}.',
          'Number of monthly installments: {months}. Each installment: {installment}. Total to pay: {total}.',
          'Interest rate: {monthly_rate} a month; {interest_rate_name}: {interest_rate}. Yearly cost with all charges ({rate_name}): {annual_rate}.',
          'Fees: {fees}. Taxes: {tax}.',
        ],
      },
      {
        title: '3. Purpose and payment',
        paragraphs: [
          'Debts that the loan pays: {creditors}. Amount that the borrower receives: {to_applicant}.',
          'The money is planned to be paid out on {disbursement}. The borrower pays the installments of the table to the lender, one each month: the first is due on {first_due}, the last on {last_due}. If the money is paid out on another day, the installments are due on that day of each month. The borrower may pay earlier, all or a part, and then owes interest only for the time that has passed.',
          'How and where to pay: {payment}.',
        ],
      },
      {
        title: '4. Late payment',
        paragraphs: [
          'Interest for late payment: {late_rate}.',
          'If the borrower pays late: {late_consequences}.',
        ],
      },
      { title: '5. Withdrawal', paragraphs: ['Withdrawal period: {withdrawal}.'] },
      {
        title: '6. Complaints and supervision',
        paragraphs: ['Complaints: {complaints}.', 'Authority that watches over the lender: {supervisor}.'],
      },
      {
        title: '7. Signature',
        paragraphs: [
          'This contract, number {contract}, was made on {date} and may be signed until {expires}. The borrower signs by electronic means: the borrower accepts this document, confirms the last four characters of the ID number, and enters a one-time code.',
        ],
      },
      { title: '8. Table of installments', paragraphs: [], schedule: true },
    ],
  },
};
