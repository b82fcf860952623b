/** The entry of the portal's page. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../../console/src/base.css';
import { watchPresence } from '../../console/src/api/presence.ts';
import { newQueries } from '../../console/src/api/query.ts';
import { keepFocus } from '../../console/src/keyboard/keep-focus.ts';
import { takeArrival, watchArrivals } from '../../console/src/sign-in/arrival.ts';
import { App } from './app.tsx';

const { token } = takeArrival();
watchArrivals(window);
watchPresence(window);
keepFocus(document);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {/* The page's policy refuses style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={newQueries()}>
        <App token={token} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
