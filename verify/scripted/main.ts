/**
 * `npm run scripted`: applicants follow scripts in the chat, from the tap to the signature or another end, while the
 * channel loses, doubles and reorders, files and codes fail, and services and PostgreSQL are killed. Afterwards a
 * checker proves from what phones and channel saw, and from the store, that the rules hold. The exit code is 1 where
 * one is broken.
 */
import { numberOption, readOptions } from '../../bench/options.ts';
import { USUAL_SHARES } from './channel-shares.ts';
import { checkScripted, RULES, type Rule } from './check.ts';
import { run } from './run.ts';
import { storyOf } from './story.ts';

const MOST_SHOWN = 20;
const values = readOptions({
  applicants: { default: '10000', about: 'how many applicants there are' },
  waiting: { default: '0', about: 'how many more ask for a person, and wait in the inbox' },
  most: { default: '500', about: 'how many of them are in their conversations at once' },
  minutes: { default: '600', about: 'nobody begins after so many minutes; who has begun comes to the end' },
  services: { default: '3', about: 'how many services run' },
  rest: {
    default: '20000',
    about: 'the longest rest between two kills, in milliseconds; 0: nobody is killed',
  },
  postgres: { default: '0.15', about: 'the share of the kills that end PostgreSQL' },
  patience: {
    default: '15000',
    about: 'how long a person waits for an answer the first time, in milliseconds',
  },
  faults: { default: '1', about: 'how often channel and codes fail, as a factor; 0: never' },
  seed: { default: String(Date.now() % 1_000_000), about: 'repeats the scripts and faults of a run' },
});
const number = (name: keyof typeof values, least: number) => numberOption(name, values[name], least);
const faults = number('faults', 0);
const restMs = number('rest', 0);
const start = performance.now();
const say = (text: string) => console.log(`at ${Math.round((performance.now() - start) / 1000)} s: ${text}`);

const { stage, history, kills, inbox, ms } = await run({
  seed: number('seed', 0),
  applicants: number('applicants', 1),
  waiting: number('waiting', 0),
  most: number('most', 1),
  withinMs: number('minutes', 0) * 60_000,
  services: number('services', 1),
  pace: { thinkMs: 2_000, patienceMs: number('patience', 1) },
  shares:
    faults === 0
      ? { ...USUAL_SHARES, lost: 0, doubled: 0, late: 0, files: 0, faults: 0 }
      : { ...USUAL_SHARES, faults },
  kills: {
    restMs: restMs === 0 ? null : restMs,
    postgres: number('postgres', 0),
    most: Number.POSITIVE_INFINITY,
  },
  isHurried: false,
  say,
});
const violations = checkScripted(history);
const broken = (await stage.postgres.check()).filter((finding) => finding.broken > 0);

const count = (some: Iterable<readonly unknown[]>) => [...some].reduce((sum, one) => sum + one.length, 0);
console.log(`
${history.persons.length} applicants in ${Math.round(ms / 1000)} s; ${kills.services} services and ${kills.postgres} times PostgreSQL killed
ten operators answered ${inbox.waited} who waited, while ${inbox.killed} of these were killed
${count(history.persons.map(({ told }) => told))} messages of persons, ${count(history.persons.map(({ taken }) => taken))} replies taken, ${history.store.events.length} events
`);
for (const [name, persons] of Map.groupBy(history.persons, ({ script }) => script.name))
  console.log(`${`${persons.length}`.padStart(6)} ${name}`);
console.log('');
for (const [rule, about] of Object.entries(RULES) as [Rule, string][]) {
  const found = violations.filter((violation) => violation.rule === rule);
  console.log(`${`${found.length}`.padStart(6)} times broken: ${about}`);
  for (const { applicationId, text } of found.slice(0, MOST_SHOWN))
    console.log(`         application ${applicationId}: ${text}`);
}
const concerned = new Set(violations.flatMap(({ applicationId }) => applicationId ?? []));
for (const id of [...concerned].slice(0, 2 * MOST_SHOWN))
  console.log(`application ${id}: ${storyOf(history, id)}`);
for (const { rule, broken: times } of broken) console.log(`${`${times}`.padStart(6)} times broken: ${rule}`);
const isGood = violations.length + broken.length === 0;
await stage.stop(!isGood);
if (!isGood) {
  console.error(`\nFAILED. Logs: ${stage.folder}. Seed: ${values.seed}`);
  process.exitCode = 1;
}
