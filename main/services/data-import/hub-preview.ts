/** The first rows of a dataset of the Hub, through its dataset server, before anything is downloaded. */
import { inputError } from '../../errors.ts';
import type { HubOptions } from '../models/hub-access.ts';
import { hubError } from '../models/hub-errors.ts';
import { DATASET_ELSEWHERE, type HubDataset } from './hub-name.ts';

export interface DatasetHubOptions extends HubOptions {
  /** Where rows are shown before a download; null: nowhere. */
  readonly serverUrl: string | null;
}

/** The dataset server that belongs to a Hub, as Hugging Face's own tools have it. */
export function datasetServer(hubUrl: string | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.HF_DATASETS_SERVER) return env.HF_DATASETS_SERVER;
  return hubUrl === undefined ? 'https://datasets-server.huggingface.co' : null;
}

export interface HubSplits {
  readonly config: string;
  readonly split: string;
}

export interface HubPreview {
  /** Every config and split of the dataset. */
  readonly splits: readonly HubSplits[];
  /** The ones that are shown. */
  readonly config: string;
  readonly split: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The first rows of a split, without downloading it. */
export async function previewHubDataset(
  { repo, config }: HubDataset,
  split: string | null,
  options: DatasetHubOptions,
  signal?: AbortSignal,
): Promise<HubPreview> {
  const { serverUrl } = options;
  if (serverUrl === null)
    throw inputError(
      'HUB_NO_PREVIEW',
      'This Hub has no server for previews',
      'Import the dataset: its rows are shown then.',
    );
  const ask = async <T>(path: string): Promise<T> => {
    const headers = options.accessToken === undefined ? {} : { authorization: `Bearer ${options.accessToken}` };
    try {
      const response = await fetch(`${serverUrl}/${path}`, { headers, ...(signal && { signal }) });
      if (!response.ok) throw Object.assign(new Error(path), { statusCode: response.status });
      return (await response.json()) as T;
    } catch (error) {
      throw hubError(error, { repo, revision: 'main' }, { ...options, hubUrl: serverUrl }, DATASET_ELSEWHERE);
    }
  };
  const { splits } = await ask<{ readonly splits: readonly HubSplits[] }>(`splits?dataset=${encodeURIComponent(repo)}`);
  const chosen = chooseSplit(splits, config, split);
  const query = new URLSearchParams({ dataset: repo, config: chosen.config, split: chosen.split });
  const first = await ask<{
    readonly features: readonly { readonly name: string }[];
    readonly rows: readonly { readonly row: Readonly<Record<string, unknown>> }[];
  }>(`first-rows?${query}`);
  return {
    ...{ splits, config: chosen.config, split: chosen.split },
    columns: first.features.map(({ name }) => name),
    rows: first.rows.map(({ row }) => row),
  };
}

function chooseSplit(splits: readonly HubSplits[], config: string | null, split: string | null): HubSplits {
  const configs = [...new Set(splits.map((one) => one.config))];
  const ofConfig = config ?? (configs.includes('default') ? 'default' : configs.length === 1 ? configs[0] : undefined);
  const known = splits.filter((one) => one.config === ofConfig);
  const found =
    split === null
      ? (known.find((one) => one.split === 'train') ?? known[0])
      : known.find((one) => one.split === split);
  if (found !== undefined) return found;
  const all = splits.map((one) => `${one.config}/${one.split}`).join(', ');
  throw inputError(
    'HUB_SPLIT_UNKNOWN',
    `Expected a config and split of the dataset, got ${ofConfig ?? 'none'}/${split ?? 'train'}`,
    `It has ${all}.`,
  );
}
