/**
 * Finds the holder and the months of a statement of earnings, or the debts of one of debts: by its layout, or else by
 * what most statements have in common (docs/documents.md, "Layouts"). Pure.
 */
import { amountsIn, type DecimalMark } from '../../../domain/document/amount.ts';
import { fold } from '../../../domain/document/fold.ts';
import { dayIn, monthAt, monthOfDay } from '../../../domain/document/month.ts';
import { debtsIn } from './debt-rows.ts';
import { type Finding, isOfLayout, type Layout, linesBetween, valueAfter } from './layout.ts';

/** What statements without a known layout often have. Their months are a hint for an operator. */
const COMMON = {
  holder_name: [
    'nombre y apellido',
    'nombre completo',
    'nombre',
    'titular',
    'conductor',
    'repartidor',
    'motorista',
    'nome',
  ],
  holder_id: ['cedula', 'documento', 'dni', 'curp', 'rfc', 'rut', 'cpf', 'c.c.', 'identificacion'],
  issued: ['fecha de emision', 'fecha de expedicion', 'emitido', 'data de emissao', 'fecha', 'data'],
};
const COMMON_CONFIDENCE = 0.5;
/** More rows than a statement of ten years has. */
const MOST_MONTHS = 120;

/** What the lines of a statement say, by the first layout that fits. */
export function findStatement(lines: readonly string[], layouts: readonly Layout[]): Finding {
  const text = lines.map(fold).join(' ');
  const layout = layouts.find((one) => isOfLayout(text, one));
  if (layout === undefined) return findCommon(lines, text);
  const { id, currency, confidence } = layout;
  const holderName = valueAfter(lines, layout.holder_name);
  const holderId = valueAfter(lines, layout.holder_id);
  const found = { layout: id, holderName, holderId, currency, confidence };
  if (layout.kind === 'debts') {
    const day = dayIn(valueAfter(lines, layout.as_of) ?? '');
    return { ...found, issued: day?.slice(0, 7) ?? null, months: [], ...debtsIn(lines, layout, day) };
  }
  const { months } = layout;
  return {
    ...found,
    issued: monthOfDay(valueAfter(lines, layout.issued) ?? ''),
    months: monthsIn(linesBetween(lines, months.from, months.until), months.amount, months.decimal),
  };
}

function findCommon(lines: readonly string[], text: string): Finding {
  return {
    layout: null,
    holderName: valueAfter(lines, COMMON.holder_name),
    holderId: valueAfter(lines, COMMON.holder_id),
    issued: monthOfDay(valueAfter(lines, COMMON.issued) ?? ''),
    currency: currencyIn(text),
    months: monthsIn(lines, -1, null),
    confidence: COMMON_CONFIDENCE,
  };
}

/** The currency codes of the countries. A statement's currency is taken if exactly one of them occurs as a word. */
const CODES = /(?<![\p{L}\p{N}])(cop|mxn|pen|ars|clp|brl|usd)(?![\p{L}\p{N}])/gu;

function currencyIn(text: string): string | null {
  const found = new Set([...text.matchAll(CODES)].map(([, code = '']) => code.toUpperCase()));
  const [only] = found;
  return found.size === 1 ? (only ?? null) : null;
}

/** The lines that begin with a month and have an amount after that. */
function monthsIn(lines: readonly string[], which: number, mark: DecimalMark): Finding['months'] {
  return lines
    .flatMap((line) => {
      const found = monthAt(line);
      if (found === null) return [];
      const amounts = amountsIn([...line].slice(found.length).join(''), mark);
      const amount = amounts.at(which > 0 ? which - 1 : which);
      return amount === undefined ? [] : [{ month: found.month, amount }];
    })
    .slice(0, MOST_MONTHS);
}
