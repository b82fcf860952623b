/**
 * The reasons of a decision: a code, and its text for the applicant in three languages (D50; docs/policy.md,
 * "Reasons").
 * A reason names what was scored and how it was seen, not a general word such as "capacity". A policy may have codes of
 * its own beside these. Pure.
 */
import type { ReasonWords } from './document.ts';

/** The most reasons of a decision (Regulation B, comment 9(b)(2): more than four are of no use to the applicant). */
export const MOST_REASONS = 4;

/** The codes and texts that every policy may use without writing them. */
export const BUILT_IN_REASONS = {
  amount_above_limit: {
    en: 'The amount is above what we lend',
    es: 'El monto supera lo que prestamos',
    pt: 'O valor passa do que emprestamos',
  },
  installment_above_income: {
    en: 'The estimated installment is too large for the income',
    es: 'La cuota estimada es demasiado alta para el ingreso',
    pt: 'A parcela estimada é alta demais para a renda',
  },
  installment_above_share: {
    en: 'The estimated installment would take too much of the income',
    es: 'La cuota estimada tomaría una parte muy alta del ingreso',
    pt: 'A parcela estimada tomaria uma parte muito alta da renda',
  },
  debt_under_6_months: {
    en: 'The debt has been overdue for less than six months',
    es: 'La deuda está vencida hace menos de seis meses',
    pt: 'A dívida está vencida há menos de seis meses',
  },
  debt_6_months: {
    en: 'The debt has been overdue for more than six months',
    es: 'La deuda está vencida hace más de seis meses',
    pt: 'A dívida está vencida há mais de seis meses',
  },
  debt_1_year: {
    en: 'The debt has been overdue for more than a year',
    es: 'La deuda está vencida hace más de un año',
    pt: 'A dívida está vencida há mais de um ano',
  },
  debt_2_years: {
    en: 'The debt has been overdue for more than two years',
    es: 'La deuda está vencida hace más de dos años',
    pt: 'A dívida está vencida há mais de dois anos',
  },
  one_debt: {
    en: 'One debt is overdue',
    es: 'Hay una deuda vencida',
    pt: 'Há uma dívida vencida',
  },
  two_debts: {
    en: 'Two debts are overdue',
    es: 'Hay dos deudas vencidas',
    pt: 'Há duas dívidas vencidas',
  },
  three_debts: {
    en: 'Three debts are overdue',
    es: 'Hay tres deudas vencidas',
    pt: 'Há três dívidas vencidas',
  },
  history: {
    en: 'There is an earlier payment history',
    es: 'Hay un historial de pago previo',
    pt: 'Há um histórico de pagamento anterior',
  },
  no_history: {
    en: 'There is no earlier payment history',
    es: 'No hay historial de pago previo',
    pt: 'Não há histórico de pagamento anterior',
  },
} as const satisfies Readonly<Record<string, ReasonWords>>;

/** The form of a code: a name that stands in URLs, columns and messages as it is. */
export const REASON_CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** A ratio below or from a bound on, whose code has `_` for the decimal point. */
const CAPACITY = /^capacity_(below|from)_(\d{1,15})(?:_(\d{1,15}))?$/;

/** The code of a ratio below a bound, such as `capacity_below_1_5`. */
export function capacityBelow(bound: string): string {
  return `capacity_below_${bound.replace('.', '_')}`;
}

/** The code of a ratio from a bound on: a reason only where a policy gives more points to a smaller ratio. */
export function capacityFrom(bound: string): string {
  return `capacity_from_${bound.replace('.', '_')}`;
}

/** The text of a code; null: neither the service nor `own`, the policy's reasons, has one. */
export function reasonWords(
  code: string,
  own: Readonly<Record<string, ReasonWords>> = {},
): ReasonWords | null {
  if (Object.hasOwn(own, code)) return own[code] ?? null;
  if (isBuiltIn(code)) return BUILT_IN_REASONS[code];
  const [, side, whole, part] = CAPACITY.exec(code) ?? [];
  return whole === undefined ? null : capacityWords(side === 'below', whole, part);
}

function isBuiltIn(code: string): code is keyof typeof BUILT_IN_REASONS {
  return Object.hasOwn(BUILT_IN_REASONS, code);
}

function capacityWords(isBelow: boolean, whole: string, part: string | undefined): ReasonWords {
  // The whole installment reads better without a number.
  if (isBelow && whole === '1' && part === undefined) {
    return {
      en: 'The income is less than the estimated installment',
      es: 'El ingreso es menor que la cuota estimada',
      pt: 'A renda é menor que a parcela estimada',
    };
  }
  const [point, comma] = ['.', ','].map((sign) => (part === undefined ? whole : `${whole}${sign}${part}`));
  const vezes = Number(`${whole}.${part ?? 0}`) >= 2 ? 'vezes' : 'vez';
  return isBelow
    ? {
        en: `The income is less than ${point} times the estimated installment`,
        es: `El ingreso es menos de ${comma} veces la cuota estimada`,
        pt: `A renda é menos de ${comma} ${vezes} a parcela estimada`,
      }
    : {
        en: `The income is at least ${point} times the estimated installment`,
        es: `El ingreso es al menos ${comma} veces la cuota estimada`,
        pt: `A renda é pelo menos ${comma} ${vezes} a parcela estimada`,
      };
}
