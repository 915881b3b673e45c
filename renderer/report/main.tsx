/** Entry point of a report: reads what the file carries and shows it by the app's own components. */
import '@mantine/core/styles.css';
import '../theme/tokens.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { keepConnected } from '../api/connection.ts';
import { IsReport } from '../components/is-report.ts';
import { theme } from '../theme/theme.ts';
import { ReportPage } from './ReportPage.tsx';
import { readReport } from './read-report.ts';
import { storedLink } from './stored-link.ts';

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false } },
});

async function show(root: HTMLElement, packed: string): Promise<void> {
  const report = await readReport(packed);
  void keepConnected(async () => ({ link: storedLink(report), lost: new Promise(() => undefined) }));
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <IsReport value={true}>
          <ReportPage report={report} />
        </IsReport>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

const root = document.getElementById('root');
const data = document.getElementById('report');
if (root === null || data === null) throw new Error('Expected a file that Braid wrote');
void show(root, data.textContent ?? '');
