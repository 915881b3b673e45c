/** Pushing in the app: what would be sent is shown first, then a job sends it, and a notice has the page's address. */
import { inputError } from '../../errors.ts';
import { counted } from '../../text/format.ts';
import { parseRepo } from '../models/hub.ts';
import { hubOptions } from '../models/hub-access.ts';
import { requireModel } from '../models/list.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { type ModelPush, type PushPlan, type PushPreview, planModelPush } from './plan.ts';
import { pushToHub } from './push.ts';

type Host = OpenWorkspace & { readonly secrets: Pick<Secrets, 'get'> };

export interface AskedPush extends Pick<ModelPush, 'repo' | 'runId' | 'texts' | 'license' | 'baseModel'> {
  /** The model's reference. */
  readonly ref: string;
}

/** What a push would send. */
export async function previewPush(host: OpenWorkspace, asked: AskedPush): Promise<PushPreview> {
  const { repo, files, notes } = await planOf(host, asked);
  const card = files.find(({ path }) => path === 'README.md')?.content;
  return {
    repo,
    notes,
    files: files.map(({ path, bytes }) => ({ path, bytes })),
    card: Buffer.isBuffer(card) ? card.toString('utf8') : '',
  };
}

/** Starts it. Returns the job's id. */
export async function startPush(host: Host, asked: AskedPush, isPublic: boolean): Promise<number> {
  const plan = await planOf(host, asked);
  const title = `Push to ${plan.repo}`;
  if (host.jobs.list().some((job) => job.state === 'running' && job.title === title))
    throw inputError('PUSH_BUSY', `${plan.repo} is already being pushed to`, 'Wait for it to finish.');
  const { id, result } = host.jobs.start('model-push', title, ({ signal, progress }) =>
    pushToHub(plan, hubOptions(host.secrets), { isPublic, signal, onProgress: progress }),
  );
  result.then(
    ({ url, sent, unchanged }) => {
      const rest = unchanged.length === 0 ? '' : `, ${counted(unchanged.length, 'file')} there already`;
      const message = `${url}: ${counted(sent.length, 'file')} sent${rest}.`;
      host.notices.add({ severity: 'info', message, remedy: null, runId: null });
    },
    // The list of jobs shows the failure.
    () => undefined,
  );
  return id;
}

function planOf(host: OpenWorkspace, { ref, repo, ...rest }: AskedPush): Promise<PushPlan> {
  const { folder } = requireModel(host, ref);
  const baseModel = rest.baseModel === null ? null : parseRepo(rest.baseModel);
  return planModelPush(host, { ...rest, repo: parseRepo(repo), folder, trained: folder, baseModel });
}
