/** The native backend for the app: the current set-up, and setting it up as a job. */
import { inputError } from '../../errors.ts';
import { currentLayout, type NativeManifest, nativeFolder, readManifest } from '../../native/folder.ts';
import type { JobContext } from '../workspace/jobs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type SetupOptions, setUpNative, unsupportedPlatform } from './setup.ts';
import { type TryOut, tryOutWith } from './try-out.ts';

type Host = Pick<OpenWorkspace, 'jobs' | 'changes' | 'paths'>;

/** The user's options; the host sets the rest. */
export type SetupChoice = Pick<SetupOptions, 'from' | 'package' | 'addon' | 'cpu'>;

export interface NativeState {
  /** The folder of set-ups. */
  readonly folder: string;
  /** The current set-up's manifest; null: none. */
  readonly manifest: NativeManifest | null;
  /** Why this machine can't have one; null: it can. */
  readonly unsupported: string | null;
}

/** The kind of its jobs. */
const KIND = 'native-setup';
const MEBIBYTE = 2 ** 20;

/** The state of the set-up folder. */
export function nativeState(folder: string = nativeFolder()): NativeState {
  const unsupported = unsupportedPlatform();
  return { folder, manifest: readManifest(currentLayout(folder)), unsupported: unsupported?.message ?? null };
}

/** Starts a set-up; an earlier one is kept until the new one works. Returns the job's id. */
export function startNativeSetup(
  host: Host,
  choice: SetupChoice,
  { folder = nativeFolder(), tryOut }: { readonly folder?: string; readonly tryOut?: TryOut } = {},
): number {
  const unsupported = unsupportedPlatform();
  if (unsupported !== null) throw unsupported;
  if (host.jobs.list().some(({ kind, state }) => kind === KIND && state === 'running'))
    throw inputError('SETUP_BUSY', 'A set-up is already running', 'Wait for it to finish, or cancel it.');
  const work = async ({ signal, progress }: JobContext): Promise<void> => {
    const tried = tryOut ?? tryOutWith(host.paths, { signal });
    const place = { folder, sources: host.paths.addon, signal, tryOut: tried };
    await setUpNative({ ...choice, ...place, ...stepsOf(progress) });
  };
  const { id, result } = host.jobs.start(KIND, 'Set up the native backend', work);
  const told = (): void => host.changes.publish('native');
  // The list of jobs shows a failure.
  result.then(told, told);
  return id;
}

/** Reports each step by name, long ones with progress. */
function stepsOf(progress: JobContext['progress']): Pick<SetupOptions, 'onStep' | 'onBytes'> {
  let step = '';
  return {
    onStep: (text) => {
      step = text;
      progress({ step, done: 0, total: 0, unit: 'MiB' });
    },
    onBytes: (done, total) =>
      progress({ step, done: Math.round(done / MEBIBYTE), total: Math.round(total / MEBIBYTE), unit: 'MiB' }),
  };
}
