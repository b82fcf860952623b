/**
 * Answers whoever was refused and writes, and opens cases for what they ask (D50; docs/reconsiderations.md). Reads
 * first; then writes cases, history, told reasons and replies in one transaction an application.
 */
import { v7 as uuidv7 } from 'uuid';
import type { CaseKind } from '../../../domain/application/cases.ts';
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import { isRefusal, refusalReasons } from '../../../domain/application/refusal.ts';
import { languageOfPhone } from '../../../domain/conversation/language.ts';
import { type Meaning, meaningsOf, withdrawalOf } from '../../../domain/conversation/words.ts';
import { withdrawalEnd } from '../../../domain/loan/withdrawal.ts';
import type { Heard } from '../../../domain/message/channel-event.ts';
import type { PublicHolidays } from '../../../domain/message/contact-window.ts';
import { mayAskToStop } from '../../../domain/message/opt-out-doubts.ts';
import { reviewPayload } from '../../../domain/message/outgoing-message.ts';
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import { countryOfPhone } from '../../../domain/phone/phone.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { eachApart } from '../../../ground/postgres/row-fault.ts';
import type { Vault } from '../../../seal/vault.ts';
import { addToHistory, noteWrongPerson } from '../../applications/sql/application-marks.ts';
import { reasonsOfApplications } from '../../applications/sql/decided-reasons.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { newestOf } from '../../applications/sql/newest.ts';
import { readSpeakers, type Speakers } from '../../applications/sql/speakers.ts';
import { queueReplies, REPLY_BELL, sealReply } from '../../messages/sql/replies.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import { type TermDays, termOf, withWords, zoneOf } from '../rules/case.ts';
import { type Composed, compose } from '../rules/compose.ts';
import { type Decided, decide, type Part } from '../rules/decide.ts';
import { type Asked, asksOf } from '../rules/words.ts';
import {
  addCase,
  casesOf,
  holdCases,
  nextTurn,
  noteHeard,
  noteTold,
  noteToldReasons,
  openedBy,
  type StoredCase,
  toldToday,
  withUntold,
} from '../sql/cases.ts';
import { type AskedAbout, openOf, readAskedAbout } from '../sql/refused.ts';
import { contentOf, sealedContent } from './content.ts';

export interface CasesContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly days: TermDays;
  /** Loaded with the first case. */
  readonly holidays: () => Promise<PublicHolidays>;
}

/** What became of the messages of a person, for log lines. */
export interface CaseNotice {
  readonly applicationId: ApplicationId;
  readonly did: 'told' | 'asked' | 'wrong_person' | 'nothing';
}

export interface HeardOfRefused {
  /** The messages that nobody else answers. */
  readonly taken: readonly Heard[];
  readonly notices: readonly CaseNotice[];
}

/** A phone may get another owner: whoever was refused longer ago than this is answered no more. */
const MOST_DAYS_AGO = 180;
/** Texts with these meanings are not talk: whoever thanks or declines wants no answer. */
const NO_TALK: readonly Meaning[] = ['thanks', 'no', 'later', 'mistaken'];

type PhoneIndex = BlindIndex<'phone'>;

/** The messages of one person about one application. */
interface Words {
  readonly about: AskedAbout;
  readonly heard: readonly Heard[];
  readonly asked: ReadonlySet<Asked>;
  readonly isTalk: boolean;
  /** An answer to an earlier case waits for the person's next message. */
  readonly hasUntold: boolean;
}

/** What was done with messages; `did` null: nothing. */
interface Done {
  readonly did: CaseNotice['did'] | null;
  readonly takes: boolean;
}

const NOT_MINE: Done = { did: null, takes: false };

type OnFault = (applicationId: ApplicationId | null, error: unknown) => void;

/**
 * Answers these messages as far as their persons were refused or ask for their data. May be called again with the same
 * messages. `onFault` gets an application whose messages could not be stored, or null where the applications of phones
 * could not be found; the others go on.
 */
export async function hearRefused(
  context: CasesContext,
  all: readonly Heard[],
  onFault: OnFault,
): Promise<HeardOfRefused> {
  const written = all.filter(mayMatter);
  if (written.length === 0) return { taken: [], notices: [] };
  const persons = await wordsOf(context.database, written, onFault);
  const taken: Heard[] = [];
  const notices: CaseNotice[] = [];
  for (const words of persons) {
    const { applicationId } = words.about;
    const hearOne = async () => {
      const { did, takes } = await answer(context, words);
      if (takes) taken.push(...words.heard);
      if (did !== null) notices.push({ applicationId, did });
    };
    await eachApart([words], hearOne, (_, error) => onFault(applicationId, error));
  }
  return { taken, notices };
}

/**
 * An opt-out, what could be meant so and a withdrawal go first: others hear them. A reaction, a sticker and the like
 * say nothing.
 */
function mayMatter({ event, phoneIndex, optsOut }: Heard): boolean {
  if (phoneIndex === null || optsOut) return false;
  if (event.kind === 'text')
    return withdrawalOf(event.body) === null && (askedIn(event.body).length > 0 || !mayAskToStop(event.body));
  return event.kind === 'tap' || (event.kind === 'file' && event.media !== 'sticker');
}

async function wordsOf(database: Database, written: readonly Heard[], onFault: OnFault): Promise<Words[]> {
  const byPhone = Map.groupBy(written, ({ phoneIndex }) => phoneIndex as PhoneIndex);
  const open = await openOf(database, [...byPhone.keys()]);
  const wantsData = ({ event }: Heard) => event.kind === 'text' && asksOf(event.body).has('data');
  const waiting = await withUntold(database, [...open.values()]);
  const mine = new Map<PhoneIndex, readonly Heard[]>();
  for (const [phone, heard] of byPhone) {
    const id = open.get(phone);
    // Beside an open application only a request for the data is not the conversation's.
    const some = id === undefined || waiting.has(id) ? heard : heard.filter(wantsData);
    if (some.length > 0) mine.set(phone, some);
  }
  const closed = [...mine.keys()].filter((phone) => !open.has(phone));
  const newest =
    closed.length === 0 ? new Map<PhoneIndex, ApplicationId>() : await lookedUp(database, closed, onFault);
  const ids = [...mine.keys()].flatMap((phone) => open.get(phone) ?? newest.get(phone) ?? []);
  const found = await readAskedAbout(database, ids);
  const untold = new Set([...waiting, ...(await withUntold(database, [...newest.values()]))]);
  return found.flatMap((about): Words[] => {
    const heard = mine.get(about.phoneIndex) ?? [];
    const ends = reviewPayload(about.applicationId);
    const asked = new Set(heard.flatMap(({ event }) => (event.kind === 'text' ? askedIn(event.body) : [])));
    if (heard.some(({ event }) => event.kind === 'tap' && event.payload === ends)) asked.add('review');
    const isTalk = heard.some(
      ({ event }) => event.kind !== 'text' || !NO_TALK.some((meaning) => meaningsOf(event.body).has(meaning)),
    );
    return heard.length === 0
      ? []
      : [{ about, heard, asked, isTalk, hasUntold: untold.has(about.applicationId) }];
  });
}

/**
 * The look-up reads many batches, and may be too slow or not possible, as during a `vault reindex`. Nobody else's
 * message waits for that: these persons get no answer, and may write again.
 */
async function lookedUp(database: Database, phones: readonly PhoneIndex[], onFault: OnFault) {
  try {
    return await newestOf(database, phones);
  } catch (error) {
    onFault(null, error);
    return new Map<PhoneIndex, ApplicationId>();
  }
}

/** A wish for a person is a wish that a person looks at the refusal. */
function askedIn(text: string): Asked[] {
  return [...asksOf(text), ...(meaningsOf(text).has('person') ? (['review'] as const) : [])];
}

async function answer(context: CasesContext, words: Words): Promise<Done> {
  const { about, heard, asked, hasUntold } = words;
  const isRefused =
    about.status === 'rejected' && isRefusal(about.reviewCode) && about.daysAgo <= MOST_DAYS_AGO;
  if (about.isWrongPerson) return isRefused ? { did: 'nothing', takes: true } : NOT_MINE;
  if (!isRefused && !asked.has('data') && !hasUntold) return NOT_MINE;
  const isOfAnother = heard.some(
    ({ event }) => event.kind === 'text' && meaningsOf(event.body).has('wrong_person'),
  );
  if (isRefused && isOfAnother) {
    await noteWrongPerson(context.database, [about.applicationId], true);
    return { did: 'wrong_person', takes: true };
  }
  const { database, vault } = context;
  const id = about.applicationId;
  const speaker = (await readSpeakers(database, vault, [id])).get(id) ?? null;
  const isMuted = (await suppressedOf(database, [about.phoneIndex])).size > 0;
  const reasons = refusalReasons(
    about.reviewCode,
    (await reasonsOfApplications(database, [id])).get(id) ?? [],
  );
  const mayOpen = asked.has('review') || asked.has('data');
  const holidays: PublicHolidays = mayOpen ? await context.holidays() : () => new Set<string>();
  const known = { isRefused, isMuted, speaker, reasons, holidays };
  const done = await againAfterConflict(() =>
    inTransaction(database, (session) => act(session, context, words, known)),
  );
  if (done.did === 'told' || done.did === 'asked') REPLY_BELL.ring();
  return done;
}

interface KnownBefore {
  readonly isRefused: boolean;
  readonly isMuted: boolean;
  readonly speaker: Speakers | null;
  readonly reasons: ReturnType<typeof refusalReasons>;
  readonly holidays: PublicHolidays;
}

async function act(
  session: Transaction,
  context: CasesContext,
  words: Words,
  known: KnownBefore,
): Promise<Done> {
  const { about, heard, asked, isTalk } = words;
  const id = about.applicationId;
  // Before anything is written: docs/scale.md says why. An erasure waits for the lock, and deletes what is written
  // here.
  await holdCases(session, [id]);
  if ((await stillThere(session, [id])).length === 0) return NOT_MINE;
  const now = await databaseTime(session);
  const cases = await casesOf(session, id);
  const open = cases.filter(({ outcome }) => outcome === null);
  const isToday = (at: Date | null) => at !== null && Math.abs(now.getTime() - at.getTime()) < DAY_MS;
  const untold = cases.filter(({ outcome, toldTurn }) => outcome !== null && toldTurn === null);
  const decided = decide({
    isRefused: known.isRefused,
    hasConsent: about.hasConsent,
    asked,
    isTalk,
    open: kindsOf(open),
    acknowledged: kindsOf(open.filter(({ acknowledgedAt }) => isToday(acknowledgedAt))),
    repeated: await openedBy(
      session,
      heard.flatMap(({ messageIndex }) => messageIndex ?? []),
    ),
    hasUntold: untold.length > 0,
    toldToday: await toldToday(session, id),
  });
  const { takes, opens } = decided;
  if (!takes && decided.says.length === 0) return NOT_MINE;
  const newest = Math.max(...heard.map(({ event }) => event.at.getTime()));
  const windowUntil = new Date(Math.min(newest, now.getTime()) + WINDOW_MS);
  const mayTell = !known.isMuted && windowUntil > now && known.speaker?.phone != null;
  const says = mayTell ? decided.says : [];
  const written = { now, windowUntil, says, decided };
  const dueDates = await writeCases(session, context, words, known, open, written);
  const did = opens.length > 0 ? 'asked' : 'told';
  if (says.length === 0) return { did: opens.length > 0 ? did : 'nothing', takes };
  const composed = composedOf(context, words, known, { says, untold, dueDates });
  await tell(session, context, words, { composed, windowUntil, untold });
  return { did, takes };
}

function kindsOf(cases: readonly StoredCase[]): ReadonlySet<CaseKind> {
  return new Set(cases.map(({ kind }) => kind));
}

interface Written {
  readonly now: Date;
  readonly windowUntil: Date;
  readonly says: readonly Part[];
  readonly decided: Decided;
}

/** Stands for an unknown country, whose holidays nobody knows. */
const NOWHERE: Country = 'CO';
const SAYS_OPENED: Readonly<Record<CaseKind, Part>> = { reconsideration: 'review_asked', data: 'data_asked' };

/** Opens cases, and adds what was written to the open ones. Returns the end of the term of each kind. */
async function writeCases(
  session: Transaction,
  { vault, days }: CasesContext,
  { about, heard }: Words,
  { speaker, holidays }: KnownBefore,
  open: readonly StoredCase[],
  { now, windowUntil, says, decided }: Written,
): Promise<Map<CaseKind, Date>> {
  const id = about.applicationId;
  const texts = heard.flatMap(({ event }) =>
    event.kind === 'text' ? [{ atMs: event.at.getTime(), text: event.body }] : [],
  );
  const acknowledged = (kind: CaseKind) => (says.includes(SAYS_OPENED[kind]) ? now : null);
  const dueDates = new Map(open.map(({ kind, dueAt }) => [kind, dueAt]));
  for (const one of open) {
    const before = contentOf(vault, one);
    // What does not open stays as it is.
    const content = before && sealedContent(vault, one, withWords(before, texts));
    await noteHeard(session, one.id, { windowUntil, acknowledgedAt: acknowledged(one.kind), content });
  }
  for (const kind of decided.opens) {
    const country = speaker?.phone == null ? null : countryOfPhone(speaker.phone);
    const zone = zoneOf(country);
    const dueAt =
      country === null
        ? withdrawalEnd(termOf(kind, null, days), now, { country: NOWHERE, zone }, () => new Set())
        : withdrawalEnd(termOf(kind, country, days), now, { country, zone }, holidays);
    const sealId = uuidv7();
    const content = sealedContent(
      vault,
      { applicationId: id, sealId },
      withWords({ words: [], answer: null }, texts),
    );
    const messageIndex = heard.find(({ messageIndex: index }) => index !== null)?.messageIndex ?? null;
    const { partnerId } = about;
    await addCase(
      session,
      { kind, applicationId: id, partnerId, messageIndex, dueAt, windowUntil, sealId, content },
      acknowledged(kind),
    );
    const action = kind === 'data' ? 'data_asked' : 'review_asked';
    await addToHistory(session, id, { actor: 'applicant', action, status: about.status, reason: 'chat' });
    dueDates.set(kind, dueAt);
  }
  return dueDates;
}

function composedOf(
  { vault }: CasesContext,
  { about }: Words,
  { speaker, reasons }: KnownBefore,
  {
    says,
    untold,
    dueDates,
  }: { says: readonly Part[]; untold: readonly StoredCase[]; dueDates: ReadonlyMap<CaseKind, Date> },
): Composed {
  const phone = speaker!.phone!;
  const { language, locale } = languageOfPhone(phone);
  const zone = zoneOf(countryOfPhone(phone));
  const lastDay = (end: Date | undefined) =>
    end && new Intl.DateTimeFormat(locale, { timeZone: zone, dateStyle: 'long' }).format(end.getTime() - 1);
  const [reconsideration, data] = [lastDay(dueDates.get('reconsideration')), lastDay(dueDates.get('data'))];
  return compose(says, {
    language,
    partner: effectiveBrand(speaker!.brand, speaker!.partnerName).partner,
    reasons,
    lastDays: { ...(reconsideration && { reconsideration }), ...(data && { data }) },
    answers: untold.map((one) => ({ outcome: one.outcome!, answer: contentOf(vault, one)?.answer ?? '' })),
    reviewPayload: reviewPayload(about.applicationId),
  });
}

async function tell(
  session: Transaction,
  { vault }: CasesContext,
  { about, heard }: Words,
  {
    composed: { text, buttons, codes, language },
    windowUntil,
    untold,
  }: {
    readonly composed: Composed;
    readonly windowUntil: Date;
    readonly untold: readonly StoredCase[];
  },
): Promise<void> {
  const { applicationId, partnerId, phoneIndex } = about;
  const turn = await nextTurn(session, applicationId);
  const readMessageId = heard.at(-1)?.event.messageId ?? null;
  const content = sealReply(vault, { applicationId, turn }, { text, buttons, readMessageId });
  await queueReplies(session, [{ applicationId, turn, partnerId, phoneIndex, content, windowUntil }]);
  await noteTold(
    session,
    untold.map(({ id }) => id),
    turn,
  );
  if (buttons.length > 0) await noteToldReasons(session, applicationId, { turn, codes, language });
}
