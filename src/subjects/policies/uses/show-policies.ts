/** What the console's page shows of the policies (D51; docs/policy.md, "The console"). Reads only. */
import { documentOf } from '../../../domain/scorecard/content.ts';
import type { PolicyDocument, ReasonWords } from '../../../domain/scorecard/document.ts';
import type { Finding } from '../../../domain/scorecard/findings.ts';
import { reasonWords } from '../../../domain/scorecard/reasons.ts';
import { CRITERIA } from '../../../domain/scorecard/scorecard.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { loginsOf } from '../../../program/operations/sql/logins.ts';
import { type Difference, differencesOf } from '../rules/difference.ts';
import { digestOf } from '../sql/digest.ts';
import {
  findDraft,
  findPolicy,
  listPolicies,
  newestActivations,
  type PolicyVersion,
  readLive,
  type StoredActivation,
} from '../sql/policies.ts';
import type { PolicyProposal } from '../sql/proposals.ts';
import { findingsNow, type PolicyDesk, proposalsOf } from './activation-proposals.ts';
import { PolicyRefusal } from './refusal.ts';

/** Who did something: an operator with an account, the service, or the command line. */
export interface Who {
  readonly way: 'operator' | 'service' | 'command_line';
  readonly id: number | null;
  readonly login: string;
}

export interface ShownVersion extends Omit<PolicyVersion, 'addedBy'> {
  readonly addedBy: Who | null;
}

export interface ShownActivation extends Omit<StoredActivation, 'by' | 'second'> {
  readonly by: Who;
  readonly second: Who | null;
}

export interface ShownPolicies {
  readonly versions: readonly ShownVersion[];
  readonly activations: readonly ShownActivation[];
  readonly proposals: readonly PolicyProposal[];
}

/** The activations that the page shows. */
const MOST_ACTIVATIONS = 100;

/** All versions, the newest activations, and the newest proposals. */
export async function showPolicies(desk: PolicyDesk): Promise<ShownPolicies> {
  const { database } = desk;
  const [versions, activations, proposals] = await Promise.all([
    listPolicies(database),
    newestActivations(database, MOST_ACTIVATIONS),
    proposalsOf(desk),
  ]);
  const who = await naming(database, [
    ...versions.map(({ addedBy }) => addedBy),
    ...activations.flatMap(({ by, second }) => [by, second]),
  ]);
  return {
    versions: versions.map((one) => ({ ...one, addedBy: who(one.addedBy) })),
    activations: activations.map((one) => ({ ...one, by: who(one.by)!, second: who(one.second) })),
    proposals,
  };
}

/** The newest activations alone. */
export async function showActivations(session: Session): Promise<ShownActivation[]> {
  const activations = await newestActivations(session, MOST_ACTIVATIONS);
  const who = await naming(
    session,
    activations.flatMap(({ by, second }) => [by, second]),
  );
  return activations.map((one) => ({ ...one, by: who(one.by)!, second: who(one.second) }));
}

const SERVICE = 'ventanilla';

/** Reads the logins behind names of the record. */
export async function naming(session: Session, names: readonly (string | null)[]) {
  const logins = await loginsOf(session, names);
  return (name: string | null): Who | null => {
    if (name === null) return null;
    const id = accountOf(name);
    if (id !== null) return { way: 'operator', id, login: logins.get(name)! };
    return { way: name === SERVICE ? 'service' : 'command_line', id: null, login: name };
  };
}

export interface ShownCard {
  readonly version: string;
  readonly state: PolicyVersion['state'];
  readonly isWithdrawn: boolean;
  /** The digest of the content, also of a draft. */
  readonly sha256: string;
  readonly document: PolicyDocument;
  readonly findings: readonly Finding[];
  /** The codes of the warnings that an activation has to accept by name. */
  readonly toAccept: readonly string[];
  /** The texts of the reasons that the document uses. */
  readonly reasons: readonly (ReasonWords & { readonly code: string })[];
}

/** A version or a draft with its findings as they are now. Throws a `PolicyRefusal` (404) where there is none. */
export async function showCard(desk: PolicyDesk, version: string): Promise<ShownCard> {
  const { database } = desk;
  const [listed, policy] = await Promise.all([listPolicies(database), findPolicy(database, version)]);
  const found = listed.find((one) => one.version === version);
  const content = policy?.content ?? (await findDraft(database, version));
  if (found === undefined || content === null) throw noVersion();
  const document = documentOf(content);
  const findings = await findingsNow(desk, database, content);
  return {
    ...{ version, state: found.state, isWithdrawn: found.isWithdrawn, sha256: digestOf(content) },
    ...{ document, findings, reasons: reasonsOf(document) },
    toAccept: policy === null ? [...new Set(findings.map(({ code }) => code))] : found.accepted,
  };
}

const noVersion = () => new PolicyRefusal(404, 'there is no such version');

function reasonsOf(document: PolicyDocument): ShownCard['reasons'] {
  const codes = [
    ...document.limits.map(({ reason }) => reason),
    ...CRITERIA.flatMap((criterion) =>
      document.characteristics[criterion].attributes.flatMap(({ reason }) => reason ?? []),
    ),
  ];
  return [...new Set(codes)].flatMap((code) => {
    const words = reasonWords(code, document.reasons);
    return words === null ? [] : [{ code, en: words.en, es: words.es, pt: words.pt }];
  });
}

/** A version or a draft as it is now: its document and the digest of its content. Throws as `showCard`. */
export async function readCurrent(
  session: Session,
  version: string,
): Promise<{ readonly document: PolicyDocument; readonly sha256: string }> {
  const content = (await findPolicy(session, version))?.content ?? (await findDraft(session, version));
  if (content === null) throw noVersion();
  return { document: documentOf(content), sha256: digestOf(content) };
}

/** What two documents do differently. */
export function compared(before: PolicyDocument, after: PolicyDocument): readonly Difference[] {
  return differencesOf(before, after);
}

/** The document that is live; null: none is yet. */
export async function readLiveDocument(session: Session): Promise<PolicyDocument | null> {
  return (await readLive(session))?.card.document ?? null;
}
