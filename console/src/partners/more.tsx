/** The button that shows the next page below those that are shown. */
import { usePartnerTexts } from './partner-texts.ts';

interface MoreProps {
  readonly pages: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    fetchNextPage(): Promise<unknown>;
  };
}

export function More({ pages: { hasNextPage, isFetchingNextPage, fetchNextPage } }: MoreProps) {
  const texts = usePartnerTexts();
  if (!hasNextPage) return null;
  return (
    <div>
      <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {texts.more}
      </button>
    </div>
  );
}
