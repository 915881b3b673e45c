import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '../../../main/api/contract/index.ts';
import { RunProblem, type RunProblemProps } from '../../../renderer/run/RunProblem.tsx';

it('says what to do about the end of a run, by the newest event with that reason', () => {
  const run = { id: 7, state: 'failed', reason: 'Another dataset', step: 4 } as RunSummary;
  const events = [
    { message: 'Another dataset', remedy: 'Wait.' },
    { message: 'Another dataset', remedy: 'Put it back.' },
    { message: 'Saved at step 4', remedy: 'Nothing.' },
  ];
  const props: RunProblemProps = { run, live: null, savedAt: 4, lacks: [], events };
  const problem = createElement(RunProblem, props);
  const markup = renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, problem));
  expect(markup).toContain('<p>Another dataset</p><p>Put it back.</p>');
});
