/**
 * Makes the PDF of a contract, and the final PDF with the certificate of the signature and the evidence (D46;
 * docs/signing.md, "The evidence"). `pdf/seal.ts` seals both afterwards.
 */
import { PDF } from '@libpdf/core';
import type { Block } from '../../../domain/loan/contract-template.ts';
import { drawPages, type Foot } from './draw.ts';

/** What both documents have beside their pages. */
export interface Heading {
  readonly title: string;
  /** The lender. */
  readonly author: string;
  readonly language: string;
  /** The database's clock. */
  readonly at: Date;
}

/** The names of the files within a final PDF. */
export const ATTACHED = {
  contract: 'contract.pdf',
  evidence: 'evidence.json',
  consent: 'consent.txt',
  offer: 'offer.txt',
} as const;

/** What a final PDF has besides, in the words that the applicant read. */
export const ANNEXES = ['consent', 'offer'] as const;
export type Annex = (typeof ANNEXES)[number];

/** The words of the annexes. Some that are deleted or do not open are left out. */
export type AnnexTexts = Readonly<Partial<Record<Annex, string>>>;

/** The contract that the applicant reads before the acceptance. Equal values give pages with equal texts. */
export async function contractPdf(
  heading: Heading,
  blocks: readonly Block[],
  foot: Foot,
): Promise<Uint8Array> {
  const pdf = PDF.create();
  await drawPages(pdf, blocks, foot);
  return finished(pdf, heading);
}

/**
 * The signed contract: the pages of the shown one, then the certificate. The shown PDF is attached byte for byte, so
 * that its hash stays provable; the evidence is attached as JSON, the annexes as texts. The pages are copied into a new
 * PDF, because common readers report a sealed PDF that gets more pages as changed.
 */
export async function signedPdf(
  heading: Heading,
  shown: Uint8Array,
  certificate: {
    readonly blocks: readonly Block[];
    readonly foot: Foot;
    readonly evidence: string;
    readonly annexes: AnnexTexts;
  },
): Promise<Uint8Array> {
  const pdf = PDF.create();
  const source = await PDF.load(shown);
  const pages = source.getPages().map((_, index) => index);
  // The seal of the shown contract is an annotation. Copied without its document, it would be a broken seal.
  await pdf.copyPagesFrom(source, pages, { includeAnnotations: false });
  await drawPages(pdf, certificate.blocks, certificate.foot);
  const { at } = heading;
  const dates = { creationDate: at, modificationDate: at };
  pdf.addAttachment(ATTACHED.contract, shown, { mimeType: 'application/pdf', ...dates });
  pdf.addAttachment(ATTACHED.evidence, Buffer.from(certificate.evidence), {
    mimeType: 'application/json',
    ...dates,
  });
  for (const annex of ANNEXES) {
    const text = certificate.annexes[annex];
    if (text !== undefined)
      pdf.addAttachment(ATTACHED[annex], Buffer.from(text), { mimeType: 'text/plain', ...dates });
  }
  return finished(pdf, heading);
}

function finished(pdf: PDF, { title, author, language, at }: Heading): Promise<Uint8Array> {
  pdf.setTitle(title, { showInWindowTitleBar: true });
  pdf.setAuthor(author);
  pdf.setLanguage(language);
  pdf.setProducer('Ventanilla');
  pdf.setCreationDate(at);
  pdf.setModificationDate(at);
  return pdf.save({ subsetFonts: true });
}
