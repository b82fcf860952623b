/** The way to the identity provider, where the installation has one. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { failureText } from '../api/failure.ts';
import { readWaysIn } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';

export const WAYS_KEY = ['ways in'];

/** The ways to sign in here; undefined: not known yet. */
export function useWaysIn() {
  return useQuery({ queryKey: WAYS_KEY, queryFn: readWaysIn, gcTime: 0 }).data;
}

interface AtProviderProps {
  /** Begins the sign-in, and resolves to the provider's address. */
  readonly begin: () => Promise<string>;
  /** This tab keeps what its operator was at. */
  readonly inOtherTab?: boolean;
  readonly known?: Readonly<Record<number, string>>;
}

/** A button that leaves the page for the provider, or gets a link to it. It is absent where there is none. */
export function AtProvider({ begin, inOtherTab = false, known = {} }: AtProviderProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const ways = useWaysIn();
  const leave = useMutation({
    mutationFn: begin,
    onSuccess: (url) => {
      if (!inOtherTab) location.assign(url);
    },
  });
  if (ways?.offered !== true) return null;
  if (leave.isSuccess && inOtherTab) return <OtherTab address={leave.data} />;
  return (
    <>
      <button type="button" disabled={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}>
        {signIn.atProvider} {ways.name}
      </button>
      {leave.isError && (
        <p role="alert">{failureText(leave.error, texts, { 502: signIn.outcomes.away, ...known })}</p>
      )}
    </>
  );
}

/** The way to the provider in a tab of its own, so that this one stays as it is. */
export function OtherTab({ address }: { address: string }) {
  const { signIn } = useTexts();
  return (
    <>
      <p role="status">{signIn.inOtherTab}</p>
      <a href={address} target="_blank" rel="noreferrer">
        {signIn.toProvider}
      </a>
    </>
  );
}
