import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '../../../main/api/contract/index.ts';
import { RunProblem, type RunProblemProps } from '../../../renderer/run/RunProblem.tsx';

it('says what to do about the end of a run, by the newest event with that reason', () => {
  const run = { id: 7, state: 'failed', reason: 'Another dataset', step: 4 } as RunSummary;
  const events = [
    { kind: 'failed', message: 'Another dataset', remedy: 'Wait.' },
    { kind: 'failed', message: 'Another dataset', remedy: 'Put it back.' },
    { kind: 'checkpoint', message: 'Saved at step 4', remedy: 'Nothing.' },
  ];
  expect(shown(run, events)).toContain('<p>Another dataset</p><p>Put it back.</p>');
});

it('says of an ended run that it could not be resumed, until something else happens to it', () => {
  const run = { id: 7, state: 'done', reason: null, step: 4 } as RunSummary;
  const failed = { kind: 'failed', message: 'Another dataset', remedy: 'Put it back.' };
  expect(shown(run, [failed])).toContain('<p>Another dataset</p><p>Put it back.</p>');
  expect(shown({ ...run, state: 'stopped' }, [failed])).toContain('<p>Another dataset</p>');
  expect(shown(run, [failed, { kind: 'done', message: 'Finished', remedy: null }])).toBe('');
  const interrupted = shown({ ...run, state: 'interrupted', reason: 'The app quit' }, [failed]);
  expect(interrupted).toMatch(/<p>Another dataset<\/p>.*<p>The app quit<\/p>/);
});

function shown(run: RunSummary, events: RunProblemProps['events']): string {
  const problem = createElement(RunProblem, { run, live: null, savedAt: 4, lacks: [], events });
  return renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, problem));
}
