/** How a dataset of the Hugging Face Hub is named. */
import { inputError } from '../../errors.ts';
import { nameFault } from '../../io/foreign-name.ts';

export interface HubDataset {
  /** `owner/name`, or one name for a few old ones. */
  readonly repo: string;
  /** null: `default`, or the only one. */
  readonly config: string | null;
  /** null: the parquet files that the Hub makes. */
  readonly revision: string | null;
}

/** `hf:owner/name`, `hf:owner/name/config`, each with `@revision`; or the address of the dataset's page. */
export function parseHubDataset(text: string): HubDataset {
  const plain = text
    .trim()
    .replace(/^hf:/, '')
    .replace(/^https?:\/\/[^/]+\/datasets\//, '');
  const [path = '', revision = null] = plain.split('@', 2);
  const parts = path.split('/').filter((part) => part !== '');
  const [owner = '', name, config = null, ...rest] = parts;
  const fits = [...parts, ...(revision === null ? [] : revision.split('/'))].every(
    (part) => /^[\w.-]+$/.test(part) && nameFault(part) === null,
  );
  if (owner !== '' && name !== undefined && rest.length === 0 && fits)
    return { repo: `${owner}/${name}`, config, revision };
  throw inputError(
    'BAD_REPO',
    `Expected a dataset of the Hub such as hf:openai/gsm8k or hf:openai/gsm8k/main, got "${text}"`,
    "Copy the name from the dataset's page.",
  );
}

/** A name for a source's folder that no other dataset, config or revision has. */
export function hubFolderName(source: string): string {
  const { repo, config, revision } = parseHubDataset(source);
  return [repo, config ?? [], revision === null ? [] : `@${revision}`].flat().join('--').replaceAll('/', '--');
}

/** The remedy for a dataset when the Hub cannot be reached. */
export const DATASET_ELSEWHERE = 'download its files where the network allows it, copy them here, and import them.';

/** Whether a source names a dataset of the Hub. */
export function isHubSource(source: string): boolean {
  return source.startsWith('hf:') || /^https?:\/\/[^/]+\/datasets\//.test(source);
}
