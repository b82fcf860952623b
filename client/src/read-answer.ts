/**
 * Reads the service's answers, in English or Spanish, because the operator may pin a key to Spanish. Throws
 * `ResponseError` where an answer is not as documented. Unknown fields are ignored.
 */
import { ResponseError } from './errors.ts';
import { integer, list, object, oneOf, text, texts, unexpected } from './read-json.ts';
import type {
  ApplicationState,
  ApplicationStatus,
  Decision,
  FieldError,
  MessageType,
  Quota,
  QuotaExceeded,
  QuotaLeft,
  Refused,
  Registered,
  Status,
  WouldNotify,
} from './wire.ts';

/** Both lists of an answer, each in submission order. */
export interface BatchAnswer {
  readonly results: readonly Registered[];
  readonly errors: readonly (Refused | QuotaExceeded)[];
}

const NAMES = {
  en: {
    processed: 'processed',
    errors: 'errors',
    results: 'results',
    errorsDetail: 'errors_detail',
    idNumber: 'id_number',
    name: 'name',
    status: 'status',
    remaining: 'remaining',
    dailyCap: 'daily_cap',
    country: 'country',
  },
  es: {
    processed: 'procesados',
    errors: 'errores',
    results: 'resultados',
    errorsDetail: 'errores_detalle',
    idNumber: 'cedula',
    name: 'nombre',
    status: 'estado',
    remaining: 'restante',
    dailyCap: 'cap_diario',
    country: 'pais',
  },
} as const;
type Names = (typeof NAMES)['en' | 'es'];

const DECISIONS: Readonly<Record<string, Decision>> = {
  approved: 'approved',
  in_review: 'in_review',
  en_revision: 'in_review',
  rejected: 'rejected',
  rechazado: 'rejected',
};
const STATUSES: Readonly<Record<string, Status>> = {
  pending_signature: 'pending_signature',
  firma_pendiente: 'pending_signature',
  in_review: 'in_review',
  en_revision: 'in_review',
  rejected: 'rejected',
  rechazado: 'rejected',
};
const APPLICATION_STATUSES: Readonly<Record<string, ApplicationStatus>> = {
  ...STATUSES,
  disbursed: 'disbursed',
};
const MESSAGE_TYPES: Readonly<Record<string, MessageType>> = {
  approved: 'approved',
  offer: 'offer',
  rejected: 'rejected',
};
/** The texts of an older service, which sends no codes. */
const DUPLICATE_TEXTS = [
  'a request already exists for this messaging-channel number',
  'ya existe una solicitud para este número del canal de mensajería',
];
const QUOTA_TEXTS = ['quota_partner_exceeded', 'quota_partner_excedida'];

/** Reads the answer to a batch. */
export function readBatch(value: unknown): BatchAnswer {
  const root = object(value, 'the answer');
  const names = 'resultados' in root ? NAMES.es : NAMES.en;
  const simulated = root.mode === 'dev';
  const results = list(root[names.results], names.results).map((entry) =>
    readResult(entry, names, simulated),
  );
  const errors = list(root[names.errorsDetail] ?? [], names.errorsDetail).map((entry) =>
    readError(entry, names),
  );
  if (root[names.processed] !== results.length || root[names.errors] !== errors.length) {
    throw new ResponseError('the counts of the answer do not fit its lists');
  }
  return { results, errors };
}

function readResult(value: unknown, names: Names, simulated: boolean): Registered {
  const entry = object(value, 'a result');
  if ((entry.simulated === true) !== simulated) throw unexpected('simulated');
  const registered: Registered = {
    kind: 'registered',
    id: simulated && entry.id === null ? null : integer(entry.id, 'id'),
    idNumber: text(entry[names.idNumber], names.idNumber),
    name: text(entry[names.name], names.name),
    score: integer(entry.score, 'score'),
    decision: oneOf(DECISIONS, entry.decision, 'decision'),
    status: oneOf(STATUSES, entry[names.status], names.status),
    simulated,
  };
  if (entry.would_notify !== undefined) registered.wouldNotify = readWouldNotify(entry.would_notify);
  return registered;
}

function readWouldNotify(value: unknown): WouldNotify {
  const { type, destination, template } = object(value, 'would_notify');
  return {
    type: oneOf(MESSAGE_TYPES, type, 'would_notify.type'),
    destination: text(destination, 'would_notify.destination'),
    template: text(template, 'would_notify.template'),
  };
}

function readError(value: unknown, names: Names): Refused | QuotaExceeded {
  const entry = object(value, 'an error entry');
  const echo = entry[names.idNumber];
  const idNumber = echo === null ? null : text(echo, names.idNumber);
  const error = text(entry.error, 'error');
  const kind = kindOf(entry.code, error);
  if (kind !== 'quota_exceeded') return { kind, idNumber, error, fields: readFields(entry.fields) };
  const remaining = integer(entry[names.remaining], names.remaining);
  const dailyCap = integer(entry[names.dailyCap], names.dailyCap);
  return { kind: 'quota_exceeded', idNumber, error, remaining, dailyCap };
}

/** The kind of an error entry. A code that this package does not know is of a fault that a newer service finds. */
function kindOf(code: unknown, error: string): (Refused | QuotaExceeded)['kind'] {
  if (code === 'duplicate' || code === 'quota_exceeded') return code;
  if (code !== undefined) return 'invalid';
  if (QUOTA_TEXTS.includes(error)) return 'quota_exceeded';
  return DUPLICATE_TEXTS.includes(error) ? 'duplicate' : 'invalid';
}

function readFields(value: unknown): FieldError[] {
  return list(value ?? [], 'fields').map((one) => {
    const { name, sent_as, code } = object(one, 'fields');
    return {
      name: text(name, 'fields.name'),
      sentAs: sent_as === null ? null : text(sent_as, 'fields.sent_as'),
      code: text(code, 'fields.code'),
    };
  });
}

/** Reads the quota status; `left` is what the headers tell. */
export function readQuota(value: unknown, left: QuotaLeft | null): Quota {
  const root = object(value, 'the answer');
  const partner = object(root.partner, 'partner');
  const names = 'nombre' in partner ? NAMES.es : NAMES.en;
  const orNull = (field: unknown, name: string) => (field === null ? null : integer(field, name));
  return {
    partnerName: text(partner[names.name], names.name),
    partnerCountry: text(partner[names.country], names.country),
    dailyCap: orNull(partner[names.dailyCap], names.dailyCap),
    used24h: integer(partner.used_24h, 'used_24h'),
    remaining: orNull(partner.remaining, 'remaining'),
    resetSeconds: left?.resetSeconds ?? null,
    fetchedAt: text(root.fetched_at, 'fetched_at'),
  };
}

/** Reads the state of an application. */
export function readState(value: unknown): ApplicationState {
  const root = object(value, 'the answer');
  const names = NAMES.es.idNumber in root ? NAMES.es : NAMES.en;
  const orNull = (name: string) => (root[name] === null ? null : text(root[name], name));
  return {
    id: integer(root.id, 'id'),
    idNumber: orNull(names.idNumber),
    score: integer(root.score, 'score'),
    decision: oneOf(DECISIONS, root.decision, 'decision'),
    status: oneOf(APPLICATION_STATUSES, root[names.status], names.status),
    reasonCode: orNull('reason_code'),
    reasonCodes: texts(root.reason_codes, 'reason_codes'),
    signedAt: orNull('signed_at'),
    withdrawnAt: orNull('withdrawn_at'),
    createdAt: text(root.created_at, 'created_at'),
    updatedAt: text(root.updated_at, 'updated_at'),
  };
}
