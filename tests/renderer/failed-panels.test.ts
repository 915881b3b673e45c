import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { api } from '../../renderer/api/client.ts';
import { Earlier } from '../../renderer/compare/Earlier.tsx';
import { NewComparison } from '../../renderer/compare/NewComparison.tsx';
import { LastComparison } from '../../renderer/home/LastComparison.tsx';
import { Texts } from '../../renderer/playground/Texts.tsx';
import { OverSeeds } from '../../renderer/replies/OverSeeds.tsx';
import { ComparisonFailure } from '../../renderer/run/CompareLink.tsx';
import { CostFailure } from '../../renderer/run/RunStrip.tsx';
import { EnginesPanel } from '../../renderer/settings/EnginesPanel.tsx';
import { GpuReportPanel } from '../../renderer/settings/GpuReportPanel.tsx';
import { HubPanel } from '../../renderer/settings/HubPanel.tsx';
import { Preferences } from '../../renderer/settings/Preferences.tsx';
import { WorkspacePanel } from '../../renderer/settings/WorkspacePanel.tsx';
import { FoundFiles } from '../../renderer/texts/FoundFiles.tsx';

/** A component's markup after a query has failed. */
function afterFailure<Props extends object>(
  component: ComponentType<Props>,
  queryKey: readonly unknown[],
  props?: Props,
  data?: unknown,
): string {
  const queries = new QueryClient({ defaultOptions: { queries: { retryOnMount: false } } });
  const failed = { status: 'error', error: new Error('The disk is gone.'), errorUpdatedAt: 1 } as const;
  queries
    .getQueryCache()
    .build(queries, { queryKey })
    .setState({ ...failed, data });
  const provided = createElement(QueryClientProvider, { client: queries }, createElement(component, props as Props));
  return renderToStaticMarkup(createElement(MantineProvider, null, provided));
}

describe('a panel whose data can’t be read', () => {
  it.each([
    ['EnginesPanel', EnginesPanel, api.engines.list.queryKey()],
    ['HubPanel', HubPanel, api.models.hubAccess.queryKey()],
    ['WorkspacePanel', WorkspacePanel, api.app.info.queryKey()],
    ['GpuReportPanel', GpuReportPanel, api.app.gpuReport.queryKey()],
    ['Preferences', Preferences, api.settings.get.queryKey()],
    ['LastComparison', LastComparison, api.comparisons.list.queryKey()],
    ['Earlier', Earlier, api.comparisons.list.queryKey()],
    ['NewComparison', NewComparison, api.models.list.queryKey()],
    ['OverSeeds', OverSeeds, api.replies.overSeeds.queryKey(), { wholeSeeds: [], work: {} }],
    ['Texts', Texts, api.datasets.list.queryKey(), { form: { a: '', b: '' } }],
    ['FoundFiles', FoundFiles, api.datasets.found.queryKey()],
  ])('says why and offers to try again: %s', (_, panel, queryKey, props?: object) => {
    const markup = afterFailure(panel as ComponentType<object>, queryKey, props);
    expect(markup).toContain('The disk is gone.');
    expect(markup).toContain('Try again');
  });
});

describe('a panel whose data couldn’t be updated', () => {
  it('keeps what it shows', () => {
    const markup = afterFailure(Earlier, api.comparisons.list.queryKey(), undefined, []);
    expect(markup).toContain('No comparisons yet');
    expect(markup).not.toContain('The disk is gone.');
  });
});

describe('a part of a run’s page whose data can’t be read', () => {
  it('says why and offers to try again: the cost', () => {
    const run = { id: 7, state: 'done', step: 1, maxSteps: 1 };
    const key = api.runs.cost.queryKey({ input: { runId: 7 } });
    const feed = { run, live: null } as unknown as Parameters<typeof CostFailure>[0]['feed'];
    const markup = afterFailure(CostFailure, key, { feed });
    expect(markup).toContain('The disk is gone.');
    expect(markup).toContain('Try again');
  });

  it('says why and offers to try again: the comparison', () => {
    const detail = {} as Parameters<typeof ComparisonFailure>[0]['detail'];
    const markup = afterFailure(ComparisonFailure, api.models.list.queryKey(), { detail });
    expect(markup).toContain('The disk is gone.');
    expect(markup).toContain('Try again');
  });
});
