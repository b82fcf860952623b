/**
 * Versions at the console: what a document's findings are, drafts that are saved, versions that are dropped or
 * withdrawn (D51; docs/policy.md, "The console"). Each act is recorded. Writes by `sql/policies.ts`.
 */
import type { PolicyContent } from '../../../domain/scorecard/content.ts';
import type { Finding } from '../../../domain/scorecard/findings.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { checkPolicy } from '../rules/check-policy.ts';
import { digestOf } from '../sql/digest.ts';
import { dropDraft, findPolicy, lockDraft, MOST_DRAFTS, putDraft, withdrawPolicy } from '../sql/policies.ts';
import { actingAs, findingsNow, type PolicyDesk } from './activation-proposals.ts';
import { PolicyRefusal } from './refusal.ts';

/** The content of a document that somebody sends. Throws `OperatorError` with the place and the rule. */
function contentOf(document: unknown): PolicyContent {
  try {
    return checkPolicy(document, 'document');
  } catch (error) {
    throw error instanceof ToldError ? new OperatorError(error.message) : error;
  }
}

/** The findings of a document, errors first. It stores nothing. Throws `OperatorError` where it has another form. */
export function checkDocument(desk: PolicyDesk, document: unknown): Promise<Finding[]> {
  return findingsNow(desk, desk.database, contentOf(document));
}

export interface SavedDraft {
  readonly version: string;
  readonly sha256: string;
  readonly findings: readonly Finding[];
}

/**
 * Saves a draft. `replaces` is the digest of the draft that the operator saw under this name; null: there was none.
 * Throws `OperatorError` for another form, and a `PolicyRefusal` (409): the document has errors, the name is taken, the
 * draft is another one by now, or the store has too many.
 */
export async function saveDraft(
  desk: PolicyDesk,
  operatorId: number,
  asked: { readonly document: unknown; readonly replaces: string | null },
): Promise<SavedDraft> {
  const content = contentOf(asked.document);
  const { version } = content;
  const findings = await findingsNow(desk, desk.database, content);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new PolicyRefusal('refused', `${errors[0]!.place}: ${errors[0]!.text}`, { findings: errors });
  await acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        if ((await findPolicy(session, version)) !== null)
          throw new PolicyRefusal(
            'taken',
            `version ${version} is there already: give the draft another name`,
          );
        const before = await lockDraft(session, version);
        if ((before === null ? null : digestOf(before)) !== asked.replaces)
          throw new PolicyRefusal(
            'draft_changed',
            `the draft ${version} was changed meanwhile: look at it again`,
          );
        if (!(await putDraft(session, content, part.actor, before === null)))
          throw new PolicyRefusal('too_many_drafts', `the store has ${MOST_DRAFTS} drafts: drop one first`);
      }),
    () => ({ act: 'policy draft', target: `policy ${version}` }),
  );
  return { version, sha256: digestOf(content), findings };
}

/** Drops a draft, or withdraws a version that was never live. Throws a `PolicyRefusal` (409) where it is neither. */
export async function withdrawAtDesk(desk: PolicyDesk, operatorId: number, version: string): Promise<void> {
  await acting(
    actingAs(desk, operatorId),
    async ({ database, actor }) => {
      if ((await dropDraft(database, version)) || (await withdrawPolicy(database, version, actor))) return;
      throw new PolicyRefusal(
        'not_withdrawable',
        `${version} is no draft, and not ready without having been live`,
      );
    },
    () => ({ act: 'policy withdraw', target: `policy ${version}` }),
  );
}
