/** Seals and opens what a case holds (D50): the person's words, and the answer. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { CaseContent } from '../rules/case.ts';
import { caseIdentity } from '../sql/cases.ts';

interface Sealed {
  readonly applicationId: ApplicationId;
  readonly sealId: string;
}

export function sealedContent(vault: Vault, { applicationId, sealId }: Sealed, content: CaseContent): Buffer {
  return vault.seal(JSON.stringify(content), caseIdentity(applicationId, sealId));
}

/** The content of a case; null: it does not open, because it is damaged or its data key is missing. */
export function contentOf(
  vault: Vault,
  { applicationId, sealId, content }: Sealed & { readonly content: Buffer },
): CaseContent | null {
  try {
    return JSON.parse(
      vault.open(content, caseIdentity(applicationId, sealId)).toString('utf8'),
    ) as CaseContent;
  } catch {
    return null;
  }
}
