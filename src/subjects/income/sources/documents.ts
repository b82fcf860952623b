/**
 * The built-in income sources: the months of accepted statements, as they were read and as operators stated them
 * (docs/income.md, "Sources"). Reads `documents`, and no files.
 */
import { sealedDocumentsOf } from '../../documents/sql/documents.ts';
import type { DocumentFiles } from '../../documents/uses/context.ts';
import { type Reading, readingOf } from '../../documents/uses/document-file.ts';
import type { Observation } from '../rules/judge-income.ts';
import type { IncomeSource, SourceAnswer } from './income-source.ts';

/** What opens the rows of documents, without their files. */
type Rows = Pick<DocumentFiles, 'database' | 'vault'>;

/** What services read in the accepted statements of earnings. */
export function documentSource(rows: Rows): IncomeSource {
  return sourceOf('documents', rows, ({ finding, stated }) => {
    if (stated !== undefined || finding === null) return null;
    const { layout, currency, issued, months } = finding;
    return { source: layout ?? 'unknown layout', currency, issued, months };
  });
}

/** What operators stated about the statements that they accepted. */
export function operatorSource(rows: Rows): IncomeSource {
  return sourceOf('operator', rows, ({ finding, stated }) => {
    if (stated === undefined) return null;
    const source = finding?.layout ?? 'unknown layout';
    return { source, currency: stated.currency, issued: finding?.issued ?? null, months: stated.months };
  });
}

function sourceOf(
  name: string,
  rows: Rows,
  observationOf: (reading: Reading) => Observation | null,
): IncomeSource {
  const observe: IncomeSource['observe'] = async ({ applicationId }): Promise<SourceAnswer> => {
    const documents = await sealedDocumentsOf(rows.database, applicationId);
    const earnings = documents.filter(({ purpose }) => purpose === 'earnings');
    if (earnings.some(({ state }) => state === 'received')) {
      return { kind: 'nothing', reason: 'documents_waiting' };
    }
    const statements = earnings
      .filter(({ state }) => state === 'accepted')
      .flatMap((document) => {
        const reading = readingOf(rows.vault, document);
        if (reading === null) return [];
        const isByOperator = document.reason === 'accepted_by_operator';
        const confidence = isByOperator ? 1 : (reading.finding?.confidence ?? 0);
        const observation = observationOf(reading);
        return observation === null ? [] : [{ observation, confidence, reader: reading.reader }];
      });
    if (statements.length === 0) return { kind: 'nothing', reason: 'no_documents' };
    return {
      kind: 'observed',
      observations: statements.map(({ observation }) => observation),
      confidence: Math.min(...statements.map(({ confidence }) => confidence)),
      reader: [...new Set(statements.map(({ reader }) => reader))].sort().join(', '),
      holder: null,
    };
  };
  return { name, observe };
}
