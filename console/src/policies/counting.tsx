/** Says that the last days' applications are still counted. */
import { useFormat } from '../format/format.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';

interface Counted {
  readonly counting: boolean;
  readonly counted: number;
}

/** `reply` undefined: nothing has come yet. */
export function CountingNote({ reply }: { reply: Counted | undefined }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const text = reply?.counting ? policies.counting(format.number(reply.counted)) : '';
  return (
    <p role="status" className={styles.status}>
      {text}
    </p>
  );
}
