/** What `status` calls a trouble. The alerts have the same bounds, and docs/runbook.md has a section for each. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { ConversationFacts } from '../../src/subjects/monitoring/rules/conversation-facts.ts';
import type { StoreFacts } from '../../src/subjects/monitoring/rules/store-facts.ts';
import { BOUNDS, TROUBLE_CODES } from '../../src/subjects/monitoring/rules/trouble.ts';
import { troublesOf } from '../../src/subjects/monitoring/rules/troubles.ts';
import { REPOSITORY } from '../support/sources.ts';
import { AT, QUIET, WELL, wellFacts } from './facts.ts';

const ago = (seconds: number) => new Date(AT.getTime() - seconds * 1000);
const { sender } = wellFacts();
const job = (name: string, seconds: number | null, failed = false) => ({
  job: name,
  succeededAt: seconds === null ? null : ago(seconds),
  tookMs: 1,
  failedAt: failed ? ago(5) : null,
  failedWhy: null,
});
const endpoints = (status: 'enabled' | 'broken' | 'disabled', oldestS: number) => [
  { status, endpoints: 2, behind: 3, oldestS },
];

const talk = (changes: Partial<ConversationFacts>) => ({ conversations: { ...WELL, ...changes } });
const replies = (oldestS: number) => ({ queued: 1, sending: 0, oldestS });
const work = (reason: string, oldestS: number) => [{ work: 'read_document', reason, waiting: 1, oldestS }];
const held = (reason: string, oldestS: number) => [{ reason, conversations: 2, oldestS }];

const CASES: [what: string, changes: Partial<StoreFacts>, codes: string[]][] = [
  ['nothing', {}, []],
  ['no upkeep yet', { jobs: [] }, ['no_upkeep']],
  ['no upkeep yet of a new store', { jobs: [], migratedAt: ago(BOUNDS.sinceUpkeepS) }, []],
  ['the upkeep of two minutes ago', { jobs: [job('a', BOUNDS.sinceUpkeepS)] }, []],
  ['the upkeep of longer ago', { jobs: [job('a', BOUNDS.sinceUpkeepS + 1)] }, ['no_upkeep']],
  ['a job that fails now and then', { jobs: [job('a', 5), job('b', 60, true)] }, []],
  ['a job that fails for long', { jobs: [job('a', 5), job('b', BOUNDS.sinceJobS + 1)] }, ['upkeep_failing']],
  ['a job that never succeeded', { jobs: [job('a', 5), job('b', null, true)] }, ['upkeep_failing']],
  ['a clock that stepped back', { jobs: [job('a', -3_600)] }, []],
  ['the last partition', { partitionsAhead: BOUNDS.partitionsAhead - 0.01 }, ['partitions_short']],
  ['a pause', { sender: { ...sender, pausedAt: AT, pausedReason: '131042' } }, ['sender_paused']],
  ['a break', { sender: { ...sender, brokenAt: AT, brokenReason: 'timeout' } }, ['channel_broken']],
  ['paused templates', { sender: { ...sender, pausedTemplates: 2 } }, ['templates_paused']],
  ['a message of 15 minutes', { lateS: BOUNDS.lateS }, []],
  ['a message that is late', { lateS: BOUNDS.lateS + 1 }, ['messages_late']],
  ['messages that wait for their hour', { later: { messages: 1_591, first: AT, last: AT } }, []],
  ['a review of an hour ago', { review: { ...QUIET, overdue: 1, overdueS: BOUNDS.reviewOverdueS } }, []],
  [
    'an overdue review',
    { review: { ...QUIET, overdue: 1, overdueS: BOUNDS.reviewOverdueS + 1 } },
    ['reviews_overdue'],
  ],
  ['a proposal of a day', { review: { ...QUIET, unconfirmed: 1, unconfirmedS: BOUNDS.unconfirmedS } }, []],
  [
    'one that nobody confirms',
    { review: { ...QUIET, unconfirmed: 1, unconfirmedS: BOUNDS.unconfirmedS + 1 } },
    ['proposals_unconfirmed'],
  ],
  ['a case at its term', { review: { ...QUIET, casesOverdueS: BOUNDS.caseOverdueS } }, []],
  ['a case past its term', { review: { ...QUIET, casesOverdue: 1, casesOverdueS: 1 } }, ['cases_overdue']],
  ['a reply of two minutes', talk({ replies: replies(BOUNDS.replyWaitsS) }), []],
  ['a reply that is late', talk({ replies: replies(BOUNDS.replyWaitsS + 1) }), ['replies_late']],
  ['an input of two minutes', talk({ inputs: { waiting: 1, oldestS: BOUNDS.inputWaitsS } }), []],
  ['a late input', talk({ inputs: { waiting: 1, oldestS: BOUNDS.inputWaitsS + 1 } }), ['inputs_late']],
  ['work of five minutes', talk({ work: work('failed', BOUNDS.workWaitsS) }), []],
  ['late work', talk({ work: work('failed', BOUNDS.workWaitsS + 1) }), ['work_late']],
  ['late work without a failed try', talk({ work: work('none', BOUNDS.workWaitsS + 1) }), ['work_late']],
  ['a scan of a minute', talk({ work: work('scanner', BOUNDS.scannerAwayS) }), []],
  ['no scanner', talk({ work: work('scanner', BOUNDS.scannerAwayS + 1) }), ['scanner_away']],
  ['a person asked for an operator', talk({ held: held('asked', BOUNDS.heldS) }), []],
  ['nobody came for hours', talk({ held: held('asked', BOUNDS.heldS + 1) }), ['conversations_held']],
  ['failed work', talk({ held: held('failure', 1) }), ['work_failed']],
  ['unreadable rows', talk({ held: held('unreadable', 1) }), ['work_failed']],
  ['an uncertain reply', talk({ uncertain: { replies: 1, oldestS: BOUNDS.replyUncertainS } }), []],
  [
    'one that stays uncertain',
    talk({ uncertain: { replies: 1, oldestS: BOUNDS.replyUncertainS + 1 } }),
    ['replies_uncertain'],
  ],
  [
    'one without a contract',
    talk({ blocked: [{ reason: 'no_terms', applications: 1 }] }),
    ['contracts_blocked'],
  ],
  ['a PDF of ten minutes', talk({ unfinished: { contracts: 1, oldestS: BOUNDS.unfinishedS } }), []],
  [
    'a PDF that is not made',
    talk({ unfinished: { contracts: 1, oldestS: BOUNDS.unfinishedS + 1 } }),
    ['contracts_unfinished'],
  ],
  ['a missing file', talk({ missingFiles: 1 }), ['documents_missing']],
  ['a document that nothing reads', talk({ notRead: 1 }), ['documents_not_read']],
  ['terms that are read again', { jobs: [job('a', 5), job('read the terms again', 5)] }, []],
  ['refused terms', { jobs: [job('a', 5), job('read the terms again', 60, true)] }, ['terms_refused']],
  ['rows that fit', { jobs: [job('a', 5), job('check the rows of operators', 200)] }, []],
  ['forged rows', { jobs: [job('a', 5), job('check the rows of API keys', 300, true)] }, ['rows_forged']],
  ['a few undelivered', { undelivered: BOUNDS.undelivered, undeliveredSince: AT }, []],
  ['undelivered', { undelivered: BOUNDS.undelivered + 1, undeliveredSince: AT }, ['messages_undelivered']],
  ['uncertain', { unsettledS: BOUNDS.unsettledS + 1 }, ['messages_uncertain']],
  ['dead endpoints', { endpoints: endpoints('disabled', 0) }, ['endpoints_disabled']],
  ['endpoints that fail for minutes', { endpoints: endpoints('broken', 300) }, []],
  ['endpoints that fail', { endpoints: endpoints('broken', BOUNDS.pushWaitsS + 1) }, ['endpoints_broken']],
  ['late pushes', { endpoints: endpoints('enabled', BOUNDS.pushWaitsS + 1) }, ['pushes_late']],
  ['a sweep', { sweeps: 1 }, ['refusal_sweep']],
  ['an index that chance makes', { drift: [drifted(0.2, 0.2)] }, []],
  ['a drift', { drift: [drifted(0.1, 0.3), drifted(0.21, 0.2)] }, ['policy_drifted']],
  ['one key of a store without services', { keys: { sealing: 0, share: 0, resealLateS: 0 } }, []],
  ['two sealing keys', { keys: { sealing: 2, share: 0, resealLateS: 0 } }, ['keys_differ']],
  ['a key near its bound', { keys: { sealing: 1, share: 0.81, resealLateS: 0 } }, ['seals_near_bound']],
  ['a reseal under way', { keys: { sealing: 1, share: 0, resealLateS: BOUNDS.resealLateS } }, []],
  ['a stuck reseal', { keys: { sealing: 1, share: 0, resealLateS: 301 } }, ['reseal_stuck']],
  ['a backup of yesterday', { jobs: [job('a', 5), job('base backup', BOUNDS.sinceBackupS)] }, []],
  ['a late backup', { jobs: [job('a', 5), job('base backup', BOUNDS.sinceBackupS + 1)] }, ['backup_overdue']],
  ['no backup at all', { jobs: [job('a', 5), job('base backup', null, true)] }, ['backup_failing']],
  ['a backup that fails after others', { jobs: [job('base backup', 60, true)] }, ['backup_failing']],
  ['a log that is not copied', { jobs: [job('a', 5), job('back up', 60, true)] }, ['backup_failing']],
  [
    'erasures that are not copied',
    { jobs: [job('a', 5), job('copy erasures', 60, true)] },
    ['backup_failing'],
  ],
  ['files that are not copied', { jobs: [job('a', 5), job('copy files', 60, true)] }, ['backup_failing']],
  ['a backup that works again', { jobs: [job('a', 5), job('base backup', 4, true)] }, []],
  ['two troubles', { sweeps: 1, lateS: 10_000 }, ['messages_late', 'refusal_sweep']],
];

function drifted(psi: number, threshold: number) {
  return { partner: null, characteristic: 'debt_age', psi, threshold };
}

describe('troubles', () => {
  for (const [what, changes, codes] of CASES) {
    it(`${what}: ${codes.length === 0 ? 'none' : codes.join(', ')}`, () => {
      const found = troublesOf(wellFacts(changes));
      assert.deepEqual(
        found.map(({ code }) => code),
        codes,
      );
      for (const { text } of found) assert.doesNotMatch(text, /null|undefined|NaN/);
    });
  }

  it('backups that fail: each place with its trouble, once', () => {
    const failing = ['base backup', 'back up', 'copy files'].map((name) => ({
      ...job(name, 60, true),
      failedWhy: name === 'copy files' ? null : 'the place of the backups, /full, fails (ENOSPC): make room',
    }));
    assert.deepEqual(troublesOf(wellFacts({ jobs: failing })), [
      { code: 'backup_failing', text: 'the place of the backups, /full, fails (ENOSPC): make room' },
    ]);
  });

  it('every code but those of an unreadable store has a case', () => {
    const found = new Set(CASES.flatMap(([, , codes]) => codes));
    const unreadable = ['database_unreachable', 'schema_unfit', 'schema_pending', 'role_unfit'];
    assert.deepEqual([...found, ...unreadable].sort(), [...TROUBLE_CODES].sort());
  });

  it('the bounds are those of the alerts', () => {
    const { groups } = parse(readFileSync(join(REPOSITORY, 'deploy/monitoring/rules.yaml'), 'utf8'));
    const bound = (alert: string) => {
      const { expr } = groups[0].rules.find((rule: { alert: string }) => rule.alert === `Ventanilla${alert}`);
      return Number(/[<>] ([\d.]+)\s*$/.exec(expr)?.[1]);
    };
    assert.deepEqual(
      {
        sinceUpkeepS: bound('UpkeepStalled'),
        sinceJobS: bound('UpkeepFailing'),
        sinceBackupS: bound('BackupOverdue'),
        backupsFailing: bound('BackupFailing'),
        partitionsAhead: bound('PartitionsShort'),
        lateS: bound('MessagesLate'),
        reviewOverdueS: bound('ReviewsOverdue'),
        unconfirmedS: bound('ProposalsUnconfirmed'),
        caseOverdueS: bound('CasesOverdue'),
        replyWaitsS: bound('RepliesLate'),
        inputWaitsS: bound('InputsLate'),
        workWaitsS: bound('WorkLate'),
        scannerAwayS: bound('ScannerAway'),
        workFailed: bound('WorkFailed'),
        heldS: bound('ConversationsHeld'),
        replyUncertainS: bound('RepliesUncertain'),
        contractsBlocked: bound('ContractsBlocked'),
        unfinishedS: bound('ContractsUnfinished'),
        missingFiles: bound('DocumentsMissing'),
        notRead: bound('DocumentsNotRead'),
        termsRefused: bound('TermsRefused'),
        rowsForged: bound('RowsForged'),
        undelivered: bound('MessagesUndelivered'),
        unsettledS: bound('MessagesUncertain'),
        pushWaitsS: bound('EndpointsBroken'),
        sealing: bound('KeysDiffer'),
        share: bound('SealsNearBound'),
        resealLateS: bound('ResealStuck'),
      },
      BOUNDS,
    );
    assert.equal(bound('PushesLate'), BOUNDS.pushWaitsS);
  });
});
