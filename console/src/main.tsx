/** The entry of the page. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './base.css';
import { watchPresence } from './api/presence.ts';
import { newQueries } from './api/query.ts';
import { App } from './app.tsx';
import { keepFocus } from './keyboard/keep-focus.ts';
import { takeArrival, watchArrivals } from './sign-in/arrival.ts';

const arrival = takeArrival();
watchArrivals(window);
watchPresence(window);
keepFocus(document);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {/* The page's policy refuses style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={newQueries()}>
        <App arrival={arrival} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
