/** The accounts of the partner. An owner adds and ends them; a link is shown once. */
import { type FormEvent, useState } from 'react';
import { Card } from '../../console/src/base-ui/card.tsx';
import { SecretDialog } from '../../console/src/base-ui/secret-dialog.tsx';
import { useFormat } from '../../console/src/format/format.ts';
import { useTexts } from '../../console/src/texts/texts.ts';
import type { InvitedAccount, PortalAccount } from '../../src/subjects/operators/routes/portal.ts';
import { type Accounts, doing, type Person, useActing, useReading } from './api.ts';
import { Confirm } from './confirm.tsx';
import styles from './portal.module.css';
import { Page, Read, Table } from './shown.tsx';
import { useFailure, usePortalTexts } from './texts.ts';

type Shown = Accounts['accounts'][number];

const ACCOUNTS = '/accounts';
const ROLES = ['member', 'owner'] as const;

export function AccountsPage({ person }: { person: Person }) {
  const { frame } = useTexts();
  const { pages, once, accounts: texts } = usePortalTexts();
  const [link, setLink] = useState<string | null>(null);
  const isOwner = person.role === 'owner';
  return (
    <Page title={pages.accounts}>
      <Card title={texts.title}>
        {!isOwner && <p>{texts.onlyOwner}</p>}
        <Read of={useReading<Accounts>(ACCOUNTS)}>
          {({ accounts }) => (
            <AccountTable accounts={accounts} ownId={isOwner ? person.id : null} onLink={setLink} />
          )}
        </Read>
      </Card>
      {isOwner && (
        <Card title={texts.add}>
          <AddAccount onLink={setLink} />
        </Card>
      )}
      {link !== null && (
        <SecretDialog
          title={texts.link}
          note={<p>{texts.linkNote}</p>}
          secret={link}
          texts={{ ...once, close: frame.close }}
          onClose={() => setLink(null)}
        />
      )}
    </Page>
  );
}

interface OnLink {
  readonly onLink: (link: string) => void;
}

/** `ownId`: whose page it is, if it is an owner's. */
function AccountTable({
  accounts,
  ownId,
  onLink,
}: OnLink & { accounts: readonly Shown[]; ownId: number | null }) {
  const { accounts: texts, roles } = usePortalTexts();
  const format = useFormat();
  const [ending, setEnding] = useState<Shown | null>(null);
  const [resetting, setResetting] = useState<Shown | null>(null);
  const end = useActing(ACCOUNTS, ({ id }: Shown) =>
    doing<typeof PortalAccount>('DELETE', `/accounts/${id}`),
  );
  const reset = useActing(ACCOUNTS, async ({ id }: Shown) => {
    onLink((await doing<typeof InvitedAccount>('POST', `/accounts/${id}/reset-factors`)).link);
  });
  return (
    <>
      <Table
        label={texts.title}
        heads={[texts.login, texts.role, texts.standing, texts.acts]}
        none=""
        lines={accounts.map((account) => ({
          id: account.id,
          cells: [
            account.login,
            roles[account.role],
            standingOf(account, texts, format.time),
            ownId !== null && ownId !== account.id && account.disabled_at === null ? (
              <span key="acts" className={styles.acts}>
                <button
                  type="button"
                  aria-label={`${texts.reset}: ${account.login}`}
                  onClick={() => setResetting(account)}
                >
                  {texts.reset}
                </button>
                <button
                  type="button"
                  aria-label={`${texts.end}: ${account.login}`}
                  onClick={() => setEnding(account)}
                >
                  {texts.end}
                </button>
              </span>
            ) : (
              '—'
            ),
          ],
        }))}
      />
      <Confirm
        about={resetting}
        act={reset}
        title={`${texts.reset}: ${resetting?.login ?? ''}`}
        note={texts.resetNote}
        label={texts.reset}
        onClose={() => setResetting(null)}
      />
      <Confirm
        about={ending}
        act={end}
        title={`${texts.end}: ${ending?.login ?? ''}`}
        note={texts.endNote}
        label={texts.end}
        onClose={() => setEnding(null)}
      />
    </>
  );
}

function standingOf(
  { disabled_at, enrolled_at }: Shown,
  texts: ReturnType<typeof usePortalTexts>['accounts'],
  time: (iso: string) => string,
): string {
  if (disabled_at !== null) return texts.ended;
  return enrolled_at === null ? texts.invited : texts.since(time(enrolled_at));
}

function AddAccount({ onLink }: OnLink) {
  const { accounts: texts, roles } = usePortalTexts();
  const failure = useFailure();
  const [login, setLogin] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('member');
  const add = useActing(ACCOUNTS, async () => {
    onLink((await doing<typeof InvitedAccount>('POST', ACCOUNTS, { login: login.trim(), role })).link);
    setLogin('');
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label>
        {texts.login}
        <input
          required
          autoComplete="off"
          autoCapitalize="none"
          value={login}
          onChange={({ target }) => setLogin(target.value)}
        />
      </label>
      <label>
        {texts.role}
        <select value={role} onChange={({ target }) => setRole(target.value as typeof role)}>
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {roles[one]}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" data-main disabled={add.isPending}>
        {texts.add}
      </button>
      {add.error && <p role="alert">{failure(add.error)}</p>}
    </form>
  );
}
