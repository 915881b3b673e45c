/** What an import from the Hub would give of a split's first rows, before anything is downloaded. */
import { type ImportPlan, planRows, type RowOptions } from '../datasets/import/plan.ts';
import type { Table } from '../datasets/import/table.ts';
import type { HubDataset } from './hub-name.ts';
import { type DatasetHubOptions, type HubPreview, previewHubDataset } from './hub-preview.ts';

export interface HubSplitChoice {
  readonly split: string;
  /** The held-out rows; null: they are split off. */
  readonly testSplit: string | null;
}

export interface HubPlan {
  readonly plan: ImportPlan;
  readonly preview: HubPreview;
}

/** Plans with the rows that the Hub's dataset server shows; nothing is downloaded or written. */
export async function planHubImport(
  dataset: HubDataset,
  { split, testSplit }: HubSplitChoice,
  options: RowOptions,
  hub: DatasetHubOptions,
): Promise<HubPlan> {
  const preview = await previewHubDataset(dataset, split, hub);
  const heldOut = async (): Promise<Table | null> =>
    testSplit === null ? null : tableOf(dataset, await previewHubDataset(dataset, testSplit, hub));
  return { plan: await planRows(options, tableOf(dataset, preview), heldOut), preview };
}

function tableOf({ repo }: HubDataset, { config, split, columns, rows }: HubPreview): Table {
  const file = `${repo}, ${config}/${split}`;
  return { columns, rows: rows.map((values, i) => ({ file, line: i + 1, values })) };
}
