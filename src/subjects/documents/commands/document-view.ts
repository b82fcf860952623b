/**
 * How `ventanilla document` shows documents, as text and as JSON. Pure. Values are masked unless they are revealed
 * (docs/documents.md).
 */
import { writeAmount } from '../../../domain/document/amount.ts';
import { named } from '../../../ground/base/named.ts';
import { recordOf, shortTime } from '../../../program/cli/output.ts';
import { MASK } from '../../../program/cli/reveal.ts';
import type { Finding } from '../rules/layout.ts';
import type { ShownDocument, StoredDocument } from '../uses/operate.ts';

/** A document as JSON, without its sealed parts. */
export function documentJson(document: StoredDocument) {
  return named(
    document,
    'id application_id purpose state reason received_at decided_at content_type bytes sha256 missing_at',
    (time) => time.toISOString(),
  );
}

/** What was read in a document, and what the channel told about it. The values are masked unless they are revealed. */
export function readingJson({ opened }: ShownDocument, isRevealed: boolean) {
  const value = <T>(text: T): T | string => (isRevealed || text === null ? text : MASK);
  const months = (of: Pick<Finding, 'months'> | null | undefined) =>
    (of?.months ?? []).map(({ month, amount }) => ({
      month,
      amount: isRevealed ? writeAmount(amount) : MASK,
    }));
  const reading = opened?.reading ?? null;
  const finding = reading?.finding ?? null;
  return {
    filename: value(opened?.claims?.filename ?? null),
    claimed_type: opened?.claims?.claimedType ?? null,
    reader: reading?.reader ?? null,
    method: reading?.method ?? null,
    pages: reading?.pages ?? null,
    layout: finding?.layout ?? null,
    confidence: finding?.confidence ?? null,
    holder: reading?.holder ?? null,
    holder_name: value(finding?.holderName ?? null),
    holder_id: value(finding?.holderId ?? null),
    issued: finding?.issued ?? null,
    currency: finding?.currency ?? null,
    months: months(finding),
    debts: (finding?.debts ?? []).map(({ creditor, reference, balance, asOf, overdueSince }) => ({
      creditor: value(creditor),
      reference: value(reference),
      balance: value(balance),
      as_of: asOf,
      overdue_since: overdueSince,
    })),
    stated_currency: reading?.stated?.currency ?? null,
    stated_months: months(reading?.stated),
  };
}

/** A document with its sealed parts, as text. */
export function shownText(shown: ShownDocument, isRevealed: boolean): string {
  const { document } = shown;
  const reading = readingJson(shown, isRevealed);
  const months = (some: typeof reading.months) =>
    some.map(({ month, amount }) => `${month} ${amount}`).join('\n');
  return recordOf([
    ['Document', document.id],
    ['Application', document.applicationId],
    ['Received', shortTime(document.receivedAt)],
    ['Purpose', document.purpose],
    ['State', document.state],
    ['Reason', document.reason],
    ['File', document.missingAt === null ? document.contentType : 'missing in the store'],
    ['Bytes', document.bytes],
    ['SHA-256', document.sha256],
    ['Name of the file', reading.filename],
    ['Claimed type', reading.claimed_type],
    ['Read by', reading.reader],
    ['Layout', reading.layout],
    ['Confidence', reading.confidence],
    ['Holder', reading.holder],
    ['Holder name', reading.holder_name],
    ['Holder ID', reading.holder_id],
    ['Issued', reading.issued],
    ['Currency', reading.stated_currency ?? reading.currency],
    ['Months read', months(reading.months)],
    ['Months stated', months(reading.stated_months)],
    ['Debts read', reading.debts.map(debtText).join('\n')],
  ]);
}

function debtText({
  creditor,
  reference,
  balance,
  as_of,
}: ReturnType<typeof readingJson>['debts'][number]): string {
  return [creditor, reference, balance, as_of].filter((part) => part !== null).join(' ');
}
