/** The way to the identity provider, where the installation has one. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { failureText } from '../api/failure.ts';
import { readWaysIn } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';

/** The ways to sign in here; undefined: not known yet. */
export function useWaysIn() {
  return useQuery({ queryKey: ['ways in'], queryFn: readWaysIn, gcTime: 0 }).data;
}

interface AtProviderProps {
  /** Begins the sign-in, and resolves to the provider's address. */
  readonly begin: () => Promise<string>;
  readonly known?: Readonly<Record<number, string>>;
}

/** A button that leaves the page for the provider. It is absent where there is none. */
export function AtProvider({ begin, known = {} }: AtProviderProps) {
  const texts = useTexts();
  const ways = useWaysIn();
  const leave = useMutation({ mutationFn: begin, onSuccess: (url) => location.assign(url) });
  if (ways?.offered !== true) return null;
  return (
    <>
      <button type="button" disabled={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}>
        {texts.signIn.atProvider} {ways.name}
      </button>
      {leave.isError && (
        <p role="alert">{failureText(leave.error, texts, { 502: texts.signIn.outcomes.away, ...known })}</p>
      )}
    </>
  );
}
