/** The debts side by side: what the partner declared, what was told, and what documents say (D52). */
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

interface DebtsProps {
  readonly application: ApplicationReply;
  readonly revealed: RevealedReply | null;
}

export function Debts({ application: { debts, debt_amount: declared, currency }, revealed }: DebtsProps) {
  const { application: texts } = useTexts();
  const format = useFormat();
  if (debts === null) return null;
  const amount = (text: string) => format.amount(Number(text), currency);
  const names = new Map(revealed?.debts.map((debt) => [debt.id, debt]));
  return (
    <Card title={texts.debtList}>
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">{texts.debtsDeclared}</th>
            <th scope="col">{texts.debtsTold}</th>
            <th scope="col">{texts.debtsRead}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>{format.amount(declared, currency)}</td>
            <td>{amount(debts.told)}</td>
            <td>{amount(debts.read)}</td>
          </tr>
        </tbody>
      </table>
      {debts.list.length === 0 ? (
        <p className={card.quiet}>{texts.none}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a phone scrolls it, also by the keyboard
        <section className={card.scroll} aria-label={`${texts.debtList}: ${texts.creditor}`} tabIndex={0}>
          <table className={card.table}>
            <thead>
              <tr>
                <th scope="col">{texts.creditor}</th>
                <th scope="col">{texts.reference}</th>
                <th scope="col">{texts.balance}</th>
                <th scope="col">{texts.asOf}</th>
                <th scope="col">{texts.toldBy}</th>
              </tr>
            </thead>
            <tbody>
              {debts.list.map(({ id, balance, as_of: asOf, told_by: toldBy }) => {
                const name = names.get(id);
                return (
                  <tr key={id}>
                    <td>{name?.creditor ?? '***'}</td>
                    <td>{name === undefined ? '***' : (name.reference ?? '-')}</td>
                    <td>{amount(balance)}</td>
                    <td>{asOf}</td>
                    <td>{texts.tellers[toldBy]}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
    </Card>
  );
}
