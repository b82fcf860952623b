/** The parts of the partners in the program: commands, jobs, tables. `program/subject/subject.ts` has the form. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import type { PausedAmong } from './uses/brand.ts';
import type { WhenClosing } from './uses/partners.ts';

/** What other subjects do for this one. */
interface Others {
  /** For a partner that closes, in the transaction that closes it. */
  readonly whenClosing: readonly WhenClosing[];
  readonly pausedAmong: PausedAmong;
}

export const partners = ({ whenClosing, pausedAmong }: Others): Subject => ({
  commands: [
    {
      command: (program) =>
        addGroup(program, 'partner', 'the partners that submit applications', 'partner list'),
      load: async () => {
        const { addPartnerCommands } = await import('./commands/partner.ts');
        return (group, cli) => addPartnerCommands(group, cli, whenClosing);
      },
    },
    {
      command: (program) => addGroup(program, 'key', 'the API keys of the partners', 'key list'),
      load: async () => (await import('./commands/key.ts')).addKeyCommands,
    },
    {
      command: (program) =>
        addGroup(program, 'quota', 'what partners use of their quota', 'quota show --partner 1'),
      load: async () => (await import('./commands/quota.ts')).addQuotaCommands,
    },
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => {
    const [{ hasKeys, keysOfOtherPeppers }, { KEY_MACS }] = await Promise.all([
      import('./sql/api-keys.ts'),
      import('./sql/key-macs.ts'),
    ]);
    return {
      apiKeyPepper: [keysOfOtherPeppers],
      indexKey: [hasKeys],
      reindexings: [KEY_MACS],
    };
  },
  consoleRoutes: async () => {
    const [{ partnerRoutes }, { brandRoutes }] = await Promise.all([
      import('./routes/partners.ts'),
      import('./routes/brand.ts'),
    ]);
    return (context) => [
      ...partnerRoutes(context, whenClosing),
      ...brandRoutes(context, { ...context, pausedAmong }),
    ];
  },
  portalRoutes: async () => (await import('./routes/portal.ts')).portalPartnerRoutes,
  service: async () => (await import('./service.ts')).PARTNERS_SERVICE,
});
