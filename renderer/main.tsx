/** The page's start: fonts and styles, the line to the host, React. */
import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './theme/tokens.css';
import { MantineProvider } from '@mantine/core';
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { followChanges } from './api/changes.ts';
import { keepConnected } from './api/connection.ts';
import { together } from './api/together.ts';
import { openAhead, openWith, readHash } from './frame/hash-location.ts';
import { openingOf } from './frame/opening.ts';
import { fetchHome } from './home/home-queries.ts';
import { theme } from './theme/theme.ts';

// The host tells what changed: nothing is fetched again by itself.
const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false } },
});

notifyManager.setScheduler(together());
followChanges(queries);
void keepConnected();
openWith(openingOf(queries));
const { path } = readHash(window.location.hash);
if (path === '/') void fetchHome(queries).catch(() => undefined);
else openAhead(path);
const root = document.getElementById('root');
if (root === null) throw new Error('Expected index.html to have a #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
