/**
 * Downloads a model from the Hugging Face Hub into the workspace. The small files come first, so that an unsupported
 * model is rejected before gigabytes are downloaded. A failed or interrupted download resumes where it stopped; one that
 * is cancelled in the list of jobs leaves nothing.
 */
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ListFileEntry } from '@huggingface/hub';
import { BraidError, inputError } from '../../errors.ts';
import { checkPortableName, foreignPlace, pathFault } from '../../io/foreign-name.ts';
import { renameSettledAsync } from '../../io/rename.ts';
import { ADDITIONAL_TEMPLATES, FAMILIES, otherWeights, readModelConfig } from '../../trainer/memory/model-folder.ts';
import type { JobContext } from '../workspace/jobs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { checkSpace } from './check-space.ts';
import type { HubOptions } from './hub-access.ts';
import { type HubModel, hubError } from './hub-errors.ts';
import { clearPlace, fetchHubFile } from './hub-file.ts';
import { hubModelFolder, recordHubModel, refuseOtherHubModel } from './hub-origin.ts';
import { inMebibytes, refuseTaken } from './import.ts';

type Host = Pick<OpenWorkspace, 'workspace' | 'jobs' | 'changes'>;

/** The files that a model folder needs; other files of a repository aren't downloaded. */
const WANTED =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|model\.safetensors\.index)\.json$|^(additional_chat_templates\/[^/]+|chat_template)\.jinja$|^(README\.md|LICENSE(\.\w+)?)$|^model(-\d+-of-\d+)?\.safetensors$/;

/** Parses the user's input: `owner/name`, or the URL of its page. */
export function parseRepo(text: string): string {
  const repo = text
    .trim()
    .replace(/^https?:\/\/[^/]+\//, '')
    .replace(/\/(tree\/.*)?$/, '');
  if (/^[\w.-]+\/[\w.-]+$/.test(repo) && pathFault(repo) === null) return repo;
  throw inputError(
    'BAD_REPO',
    `Expected a Hub model such as HuggingFaceTB/SmolLM2-135M-Instruct, got "${text}"`,
    "Copy the name from the model's page.",
  );
}

/** Downloads a model into the workspace; returns its folder. Once interrupted, the next call resumes it. */
export async function fetchHubModel(
  workspace: Pick<Host['workspace'], 'models'>,
  { repo, revision }: HubModel,
  options: HubOptions,
  job: Pick<JobContext, 'signal' | 'progress'>,
): Promise<string> {
  const model = { repo: parseRepo(repo), revision };
  const target = freeFolder(workspace, model);
  await fetchModel(model, target, options, { ...job, keepsPart: () => true });
  return target;
}

/** Where a download will be; refused where another model is. */
function freeFolder(workspace: Pick<Host['workspace'], 'models'>, { repo }: HubModel): string {
  const target = hubModelFolder(workspace, repo);
  checkPortableName(basename(target), 'BAD_MODEL_NAME');
  refuseOtherHubModel(target, repo);
  refuseTaken(target);
  return target;
}

/** Starts a download that becomes the model `workspace:NAME`. Returns the job's id. */
export function downloadModel(host: Host, { repo, revision }: HubModel, options: HubOptions): number {
  const model = { repo: parseRepo(repo), revision };
  const target = freeFolder(host.workspace, model);
  const title = `Download ${model.repo}`;
  if (host.jobs.list().some((job) => job.state === 'running' && job.title === title))
    throw inputError('DOWNLOAD_BUSY', `${repo} is already being downloaded`, 'Wait for it to finish.');
  const { id, result } = host.jobs.start('model-download', title, (job) =>
    // Cancelling deletes what it has; closing Braid keeps it for another day.
    fetchModel(model, target, options, { ...job, keepsPart: job.isClosing }),
  );
  result.then(
    () => host.changes.publish('models'),
    // The list of jobs shows the failure.
    () => undefined,
  );
  return id;
}

type Followed = Pick<JobContext, 'signal' | 'progress'>;

interface Download extends Followed {
  /** Whether an aborted download keeps what it has, for the next one to resume. */
  readonly keepsPart: () => boolean;
}

async function fetchModel(model: HubModel, target: string, options: HubOptions, job: Download): Promise<void> {
  const { signal, keepsPart } = job;
  const folder = join(
    target,
    '..',
    `.hub-${model.repo.replace('/', '--')}-${model.revision.replaceAll(/[^\w.-]/g, '--')}`,
  );
  try {
    await clearPlace(folder, 'folder');
    await mkdir(folder, { recursive: true });
    await fetchFiles(model, folder, options, job);
    recordHubModel(folder, model);
    refuseTaken(target);
    await renameSettledAsync(folder, target);
  } catch (error) {
    if (signal.aborted) {
      if (keepsPart())
        throw new BraidError('INTERRUPTED', 'Interrupted; what was downloaded is kept for the next time.');
      await rm(folder, { recursive: true, force: true });
      throw new BraidError('INTERRUPTED', 'Cancelled; no files were kept.');
    }
    const explained = hubError(error, model, options);
    // Don't resume what can never become a model.
    if (explained instanceof BraidError && explained.kind === 'input')
      await rm(folder, { recursive: true, force: true });
    throw explained;
  }
}

async function fetchFiles(model: HubModel, folder: string, options: HubOptions, job: Followed): Promise<void> {
  const { signal, progress } = job;
  // Loaded on demand: most sessions download nothing.
  const { downloadFile, listFiles } = await import('@huggingface/hub');
  const access = {
    repo: model.repo,
    revision: model.revision,
    fetch: ((input, init) => fetch(input, { ...init, signal })) as typeof fetch,
    ...(options.hubUrl !== undefined && { hubUrl: options.hubUrl }),
    ...(options.accessToken !== undefined && { accessToken: options.accessToken }),
  };
  const files: ListFileEntry[] = [];
  for await (const file of listFiles(access)) {
    if (file.type === 'file') files.push(file);
    if (file.path !== ADDITIONAL_TEMPLATES) continue;
    for await (const template of listFiles({ ...access, path: ADDITIONAL_TEMPLATES })) files.push(template);
    await clearPlace(join(folder, ADDITIONAL_TEMPLATES), 'folder');
    await mkdir(join(folder, ADDITIONAL_TEMPLATES), { recursive: true });
  }
  const wanted = files.filter(({ path }) => WANTED.test(path)).sort((a, b) => a.size - b.size);
  refuseForeign(model.repo, files, wanted);
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  checkSpace(folder, total, model.repo);

  let done = 0;
  const onBytes = (count: number): void => {
    done += count;
    progress(inMebibytes(done, total));
  };
  for (const file of wanted) {
    const place = foreignPlace(folder, file.path, model.repo);
    const download = () => downloadFile({ ...access, path: file.path });
    await fetchHubFile(file, place, { download, what: 'download', signal, onBytes });
    if (file.path === 'config.json') readModelConfig(folder);
  }
}

function refuseForeign(repo: string, files: readonly ListFileEntry[], wanted: readonly ListFileEntry[]): void {
  const has = (pattern: RegExp): boolean => wanted.some(({ path }) => pattern.test(path));
  if (has(/^config\.json$/) && has(/\.safetensors$/) && has(/^tokenizer\.json$/)) return;
  const other = otherWeights(files.map(({ path }) => path));
  const missing = ['config.json', 'tokenizer.json'].find((name) => !wanted.some(({ path }) => path === name));
  const weights = has(/\.safetensors$/);
  const got = [
    ...(missing === undefined ? [] : [`no ${missing}`]),
    ...(weights ? [] : [`no model*.safetensors${other === null ? '' : `, only ${other.what}`}`]),
  ];
  throw inputError(
    'HUB_NO_MODEL',
    `Expected ${repo} to hold a model with config.json, tokenizer.json and safetensors, got ${got.join(', ')}`,
    (weights ? null : other?.remedy) ?? `Choose another model in Hugging Face format: ${FAMILIES} are supported.`,
  );
}
