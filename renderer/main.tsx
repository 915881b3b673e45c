/** Renderer entry point: fonts and styles, the connection to the host, React. */
import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './theme/tokens.css';
import { MantineProvider } from '@mantine/core';
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, fetchCode } from './App.tsx';
import { batchNotifications } from './api/batch-notifications.ts';
import { followChanges } from './api/changes.ts';
import { keepConnected } from './api/connection.ts';
import { keepDoubleClicksOnButtons } from './frame/double-click.ts';
import { prefetchLocation, readHash, setPrefetch } from './frame/hash-location.ts';
import { prefetchScreen } from './frame/prefetch-screens.ts';
import { fetchHome } from './home/home-queries.ts';
import { colourScheme } from './theme/colour-scheme.ts';
import { theme } from './theme/theme.ts';

// The host reports changes, so queries never refetch on their own.
const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false } },
});

keepDoubleClicksOnButtons(document);
notifyManager.setScheduler(batchNotifications());
followChanges(queries);
void keepConnected();
setPrefetch((path) => {
  fetchCode(path);
  return prefetchScreen(queries, path);
});
const { path } = readHash(window.location.hash);
if (path === '/') void fetchHome(queries).catch(() => undefined);
else prefetchLocation(path);
const root = document.getElementById('root');
if (root === null) throw new Error('Expected index.html to have a #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={colourScheme}>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
