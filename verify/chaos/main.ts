/**
 * `npm run chaos`: partners send batches, operators review and work at the desk, workers send messages, and programs,
 * database, network, channel, disk and clocks fail, for `--minutes N`. The histories of all clients and the store
 * afterwards prove that the rules of verify/history hold; the exit code is 1 where one is broken. `--seed N` repeats
 * the faults and batches of a run, but not their timing.
 */
import { resolve } from 'node:path';
import { numberOption, readOptions } from '../../bench/options.ts';
import { RULES, type Rule } from '../history/check.ts';
import { DATABASE_FAULTS, FULL_DISK } from './faults/database.ts';
import { FLOOD_FAULTS } from './faults/floods.ts';
import { NETWORK_FAULTS } from './faults/network.ts';
import { PROGRAM_FAULTS } from './faults/programs.ts';
import { checkHeap } from './heap.ts';
import { checkMemory } from './memory.ts';
import { writeReport } from './report/report.ts';
import { checkRest, run } from './run.ts';
import { startStage } from './stage.ts';

const PARTNERS = [
  { name: 'Acme', cap: null },
  { name: 'Capped', cap: 3_000 },
  { name: 'Nearly closed', cap: 50 },
];
/** A flood takes a while to go, so a run of a minute has no time for this. */
const FLOODED_FROM_MINUTES = 2;

const values = readOptions({
  minutes: { default: '10', about: 'how long faults are dealt' },
  seed: { default: String(Date.now() % 1_000_000), about: 'repeats the faults and batches of a run' },
  only: {
    default: '',
    about: 'deals only faults whose name contains one of these, divided by commas; "none": no faults',
  },
  rest: { default: '1000', about: 'the longest rest between two faults, in milliseconds' },
  pause: { default: '400', about: 'the longest pause between two batches of a client, in milliseconds' },
  report: { default: 'chaos-report', about: 'the folder of the report' },
});
const minutes = numberOption('minutes', values.minutes, 0.1);
const seed = numberOption('seed', values.seed, 0);
const again = `npm run chaos -- --seed ${seed} --minutes ${values.minutes}${values.only === '' ? '' : ` --only "${values.only}"`} --rest ${values.rest} --pause ${values.pause}`;
const start = performance.now();
const say = (text: string) => console.log(`at ${Math.round((performance.now() - start) / 1000)} s: ${text}`);
console.log(again);

const chosen = <T extends { name: string }>(faults: readonly T[]) =>
  faults.filter(({ name }) => values.only.split(',').some((text) => name.includes(text.trim())));
const otherFaults = chosen([...DATABASE_FAULTS, ...NETWORK_FAULTS, ...FLOOD_FAULTS]);
const hasSmallDisk = otherFaults.includes(FULL_DISK);
const stage = await startStage({ hasStandby: true, hasSmallDisk });
say(`the stage stands in ${stage.folder}`);
const ran = await run(stage, {
  ...{ seed, minutes, otherFaults, say },
  programFaults: chosen(PROGRAM_FAULTS),
  restMs: numberOption('rest', values.rest, 0),
  pauseMs: numberOption('pause', values.pause, 0),
  partners: PARTNERS,
  clientsPerPartner: 2,
  hasFlood: true,
  ...(minutes >= FLOODED_FROM_MINUTES && { lastly: checkMemory }),
});
const { promises, recorder, counts, violations, watch } = ran;
for (const rule of Object.keys(RULES) as Rule[]) {
  const broken = violations.filter((violation) => violation.rule === rule);
  if (broken.length === 0) promises.hold(rule, true, () => '');
  for (const { partnerId, text } of broken) promises.hold(rule, false, () => `partner ${partnerId}: ${text}`);
}
await checkRest(stage, promises);
const slopes = checkHeap(watch.memory, promises);
await stage.stop(!promises.areKept);
const report = writeReport(values.report, { ...ran, seed, minutes, again, slopes });

for (const [what, count] of counts) console.log(`${String(count).padStart(9)} ${what}`);
console.log(
  `${recorder.acknowledged.toLocaleString('en-US')} applications were acknowledged, and ${stage.api.accepted.size.toLocaleString('en-US')} messages taken`,
);
const done = recorder.deskActs.filter(({ end }) => end === 'done');
const byAct = [...Map.groupBy(done, ({ act }) => act)].map(([act, { length }]) => `${length} ${act}`);
console.log(`acts of the desk: ${byAct.toSorted().join(', ') || 'none'}\n`);
console.log(promises.summary());
console.log(`\nreport: ${resolve(report)}`);
if (promises.areKept) say('all promises are kept');
else {
  console.error(`\nFAILED: promises are broken. Logs: ${stage.folder}. Again: ${again}`);
  process.exitCode = 1;
}
