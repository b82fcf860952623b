/**
 * Explains to partners the types of events and the codes of a review's reason (D41; contract, "Partner event"). Data
 * alone.
 */
import type { ReasonCode } from '../../domain/application/reason-codes.ts';
import type { PartnerEventType } from '../../domain/event/event.ts';
import type { LimitCode } from '../../domain/scorecard/scorecard.ts';
import type { Words } from '../../ground/base/language.ts';

/** When an event of each type happens. */
export const EVENT_WORDS: Readonly<Record<PartnerEventType, Words>> = {
  'application.status_changed': {
    en: 'We approved, rejected or disbursed the application.',
    es: 'Aprobamos, rechazamos o desembolsamos la solicitud.',
  },
  'application.interested': {
    en: 'The applicant tapped "I am interested" for the first time.',
    es: 'El solicitante tocó "Me interesa" por primera vez.',
  },
  'message.failed': {
    en: 'A message to the applicant failed.',
    es: 'Falló un mensaje al solicitante.',
  },
  'conversation.started': {
    en: 'The conversation with the applicant began.',
    es: 'Empezó la conversación con el solicitante.',
  },
  'documents.received': {
    en: 'The applicant sent the documents.',
    es: 'El solicitante envió los documentos.',
  },
  'income.verified': {
    en: 'The income was checked: confirmed, adjusted, or left to an operator.',
    es: 'Se revisó el ingreso: confirmado, ajustado o en manos de un operador.',
  },
  'contract.signed': { en: 'The applicant signed the contract.', es: 'El solicitante firmó el contrato.' },
  'contract.withdrawn': {
    en: 'The applicant withdrew from the contract.',
    es: 'El solicitante se retiró del contrato.',
  },
  'conversation.ended': {
    en: 'The conversation ended: signed, declined, withdrawn, expired or closed.',
    es: 'Terminó la conversación: firmada, no aceptada, retirada, vencida o cerrada.',
  },
};

/** The meaning of each limit that can reject an application at its registration (D29). */
export const LIMIT_WORDS: Readonly<Record<LimitCode, Words>> = {
  amount_above_limit: {
    en: 'The amount is above the limit of the policy',
    es: 'El monto supera el límite de la política',
  },
  installment_above_income: {
    en: 'The monthly installment takes more of the income than the policy allows',
    es: 'La cuota mensual toma más del ingreso de lo que permite la política',
  },
};

/** What each code of a review means. */
export const REASON_WORDS: Readonly<Record<ReasonCode, Words>> = {
  documents_verified: { en: 'The documents are in order', es: 'Los documentos están en orden' },
  income_verified: { en: 'The income is proven', es: 'El ingreso está comprobado' },
  exception_granted: { en: 'Approved as an exception', es: 'Aprobada como excepción' },
  documents_missing: { en: 'Documents are missing', es: 'Faltan documentos' },
  documents_invalid: { en: 'Documents are not valid', es: 'Hay documentos no válidos' },
  identity_not_verified: {
    en: 'The identity could not be verified',
    es: 'No se pudo verificar la identidad',
  },
  income_not_verified: { en: 'The income could not be verified', es: 'No se pudo verificar el ingreso' },
  insufficient_capacity: {
    en: 'The income is not enough for the installment',
    es: 'El ingreso no alcanza para la cuota mensual',
  },
  suspected_fraud: { en: 'Fraud is suspected', es: 'Se sospecha fraude' },
  applicant_withdrew: { en: 'The applicant withdrew', es: 'El solicitante desistió' },
  contract_withdrawn: {
    en: 'The applicant withdrew from the signed contract',
    es: 'El solicitante se retractó del contrato firmado',
  },
  data_erased: {
    en: 'The applicant asked to have the data erased',
    es: 'El solicitante pidió borrar sus datos',
  },
  offer_expired: { en: 'The offer expired', es: 'La oferta venció' },
  funds_transferred: { en: 'The money was transferred', es: 'El dinero se transfirió' },
  unspecified: { en: 'No code was given', es: 'No se indicó un código' },
};
