/** The first rows of a dataset of the Hub, through its dataset server, before anything is downloaded. */
import { inputError } from '../../errors.ts';
import { parseJsonExactly } from '../../io/json.ts';
import { readAnswer } from '../../io/read-body.ts';
import { type HubOptions, hubAddress, hubOptions } from '../models/hub-access.ts';
import { hubError } from '../models/hub-errors.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { DATASET_ELSEWHERE, type HubDataset } from './hub-name.ts';

export interface DatasetHubOptions extends HubOptions {
  /** Where rows are shown before a download; null: nowhere. */
  readonly serverUrl: string | null;
}

/** The dataset server that belongs to a Hub, as Hugging Face's own tools have it. */
export function datasetServer(hubUrl: string | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  const given = hubAddress('HF_DATASETS_SERVER', env);
  return given ?? (hubUrl === undefined ? 'https://datasets-server.huggingface.co' : null);
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
  /** How many of the rows have values that the server has shortened. */
  readonly shortened: number;
}

/** The Hub, the token and the dataset server that are used. */
export function datasetOptions(secrets: Pick<Secrets, 'get'>): DatasetHubOptions {
  const options = hubOptions(secrets);
  return { ...options, serverUrl: datasetServer(options.hubUrl) };
}

/** The first rows of a split, without downloading it. */
export async function previewHubDataset(
  dataset: HubDataset,
  split: string | null,
  options: DatasetHubOptions,
  signal?: AbortSignal,
): Promise<HubPreview> {
  const ask = askServer(dataset, options, signal);
  const splits = await askSplits(ask, dataset);
  const chosen = chooseSplit(splits, dataset.config, split);
  const query = new URLSearchParams({ dataset: dataset.repo, config: chosen.config, split: chosen.split });
  const first = await ask<{
    readonly features: readonly { readonly name: string }[];
    readonly rows: readonly {
      readonly row: Readonly<Record<string, unknown>>;
      readonly truncated_cells?: readonly string[];
    }[];
  }>(`first-rows?${query}`);
  return {
    splits,
    config: chosen.config,
    split: chosen.split,
    columns: first.features.map(({ name }) => name),
    rows: first.rows.map(({ row }) => row),
    shortened: first.rows.filter(({ truncated_cells: cells = [] }) => cells.length > 0).length,
  };
}

type Ask = <T>(path: string) => Promise<T>;

function askServer({ repo }: HubDataset, options: DatasetHubOptions, signal: AbortSignal | undefined): Ask {
  const { serverUrl } = options;
  if (serverUrl === null)
    throw inputError(
      'HUB_NO_PREVIEW',
      'This Hub has no server for previews',
      'Name one in HF_DATASETS_SERVER, or import the dataset: every row is checked before anything is written.',
    );
  return async <T>(path: string): Promise<T> => {
    const headers = options.accessToken === undefined ? {} : { authorization: `Bearer ${options.accessToken}` };
    try {
      const response = await fetch(`${serverUrl}/${path}`, { headers, ...(signal && { signal }) });
      if (!response.ok) throw Object.assign(new Error(path), { statusCode: response.status });
      return parseJsonExactly(await readAnswer(response.body)) as T;
    } catch (error) {
      throw hubError(error, { repo, revision: 'main' }, { ...options, hubUrl: serverUrl }, DATASET_ELSEWHERE);
    }
  };
}

async function askSplits(ask: Ask, { repo }: HubDataset): Promise<readonly HubSplits[]> {
  const { splits } = await ask<{ readonly splits: readonly HubSplits[] }>(`splits?dataset=${encodeURIComponent(repo)}`);
  return splits;
}

export interface OtherSplits {
  /** Every split of the config but the one that is imported. */
  readonly others: readonly string[];
  /** Those that are usually held out, the likeliest first. */
  readonly heldOut: readonly string[];
}

/** Which other splits could be held out. */
export async function otherSplits(
  dataset: HubDataset,
  split: string,
  options: DatasetHubOptions,
  signal?: AbortSignal,
): Promise<OtherSplits> {
  const splits = await askSplits(askServer(dataset, options, signal), dataset);
  const shown = { splits, ...chooseSplit(splits, dataset.config, split) };
  return { others: splitsBeside(shown), heldOut: heldOutSplits(shown) };
}

type ShownSplit = Pick<HubPreview, 'splits' | 'config' | 'split'>;

/** The other splits of the shown config. */
function splitsBeside({ splits, config, split }: ShownSplit): string[] {
  return splits.filter((one) => one.config === config && one.split !== split).map((one) => one.split);
}

/** Splits of the shown config that are usually held out, the likeliest first; none is taken unasked. */
export function heldOutSplits(shown: ShownSplit): string[] {
  const others = splitsBeside(shown);
  return HELD_OUT_NAMES.filter((name) => others.includes(name));
}

const HELD_OUT_NAMES = ['test', 'validation', 'valid', 'val', 'dev', 'eval'];

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
