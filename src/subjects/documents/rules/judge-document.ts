/**
 * Decides what becomes of a document by what was read in it: accepted, refused, or left to an operator
 * (docs/documents.md, "States and reasons"). Pure.
 */
import { foldIdNumber } from '../../../domain/application/fold-id-number.ts';
import type { DocumentReason, Purpose } from '../../../domain/document/document.ts';
import { wordsOf } from '../../../domain/document/fold.ts';
import { type Holder, type HolderMatch, matchHolder } from '../../../domain/document/holder.ts';
import type { Finding, Layout } from './layout.ts';
import { findStatement } from './statement.ts';

/** What the reader told: the lines, or why there are none. */
export type Read =
  | {
      readonly method: 'text' | 'ocr';
      readonly pages: number;
      readonly lines: readonly string[];
      readonly confidence: number;
    }
  | {
      readonly fault:
        | 'encrypted'
        | 'damaged'
        | 'no_text'
        | 'reader_time'
        | 'reader_memory'
        | 'reader_failed'
        | 'reader_off'
        | 'reading_limit'
        | 'file_missing'
        | 'file_damaged';
    };

/** What was found, and what follows. */
export interface Judgement {
  readonly reason: DocumentReason;
  /** null: nothing was read. */
  readonly finding: Finding | null;
  readonly holder: HolderMatch;
}

/** An operator looks at a statement with less. */
const LEAST_CONFIDENCE = 0.8;
/** Characters that OCR guessed are only a hint, however sure it is. */
const MOST_OCR_CONFIDENCE = 0.5;

/**
 * A statement of earnings is accepted without an operator if its layout is known, it is the applicant's, and it has
 * months; one of debts of a known layout if it is the applicant's and each debt can be read (D52). Any other statement
 * of debts is only kept: nothing is computed from it.
 */
export function judgeDocument(
  purpose: Purpose,
  read: Read,
  applicant: Holder,
  layouts: readonly Layout[],
): Judgement {
  if ('fault' in read) {
    const isKept = purpose === 'debts' && read.fault === 'no_text';
    return { reason: isKept ? 'stored' : read.fault, finding: null, holder: 'unknown' };
  }
  const most = read.method === 'ocr' ? Math.min(read.confidence, MOST_OCR_CONFIDENCE) : read.confidence;
  const found = findStatement(read.lines, layouts);
  const finding = { ...found, confidence: Math.min(found.confidence, most) };
  const holder = holderOf(read.lines, applicant, finding);
  const reason = purpose === 'debts' ? debtsReason(holder, finding) : earningsReason(holder, finding);
  return { reason, finding, holder };
}

function debtsReason(holder: HolderMatch, finding: Finding): DocumentReason {
  if (holder === 'another') return 'another_holder';
  if (finding.debts === undefined) return 'stored';
  if (holder === 'unknown') return 'holder_not_found';
  if (finding.debtsFault !== undefined) return finding.debtsFault;
  return finding.confidence < LEAST_CONFIDENCE ? 'low_confidence' : 'read';
}

function earningsReason(holder: HolderMatch, finding: Finding): DocumentReason {
  if (holder === 'another') return 'another_holder';
  if (finding.layout === null) return 'unknown_layout';
  if (holder === 'unknown') return 'holder_not_found';
  if (finding.months.length === 0) return 'no_months';
  return finding.confidence < LEAST_CONFIDENCE ? 'low_confidence' : 'read';
}

/**
 * Whose statement it is. Without a layout a label may lead to another name than the holder's, so the applicant's name
 * anywhere in the text counts more than a label.
 */
function holderOf(lines: readonly string[], applicant: Holder, finding: Finding): HolderMatch {
  const match = matchHolder(applicant, { name: finding.holderName, idNumber: finding.holderId });
  if (match !== 'another' || finding.layout !== null) return match;
  return mentions(lines, applicant) ? 'unknown' : 'another';
}

function mentions(lines: readonly string[], { name, idNumber }: Holder): boolean {
  const number = wordsOf(foldIdNumber(idNumber ?? '')).join('');
  const own = wordsOf(name ?? '').filter((word) => word.length > 1);
  return lines.some((line) => {
    const words = wordsOf(line);
    const hasNumber = number !== '' && words.join('').includes(number);
    return hasNumber || (own.length > 1 && own.every((word) => words.includes(word)));
  });
}
