/** The native backend as the app shows it: what stands there, and a set-up as a job with its steps. */
import { inputError } from '../../errors.ts';
import { currentLayout, type NativeManifest, nativeFolder, readManifest } from '../../native/folder.ts';
import type { App } from '../app.ts';
import type { JobContext } from '../jobs.ts';
import { type SetupOptions, setUpNative, unsupportedPlatform } from './setup.ts';
import { type TryOut, tryOutWith } from './try-out.ts';

type Host = Pick<App, 'jobs' | 'changes' | 'paths'>;

/** What a person chooses; the rest is the host's. */
export type SetupChoice = Pick<SetupOptions, 'from' | 'package' | 'addon' | 'cpu'>;

export interface NativeState {
  /** Where set-ups are kept. */
  readonly folder: string;
  /** What the one in use says of itself; null: none is there. */
  readonly manifest: NativeManifest | null;
  /** Why none can be had on this machine; null: one can. */
  readonly unsupported: string | null;
}

/** The kind of its jobs. */
const KIND = 'native-setup';
const MEBIBYTE = 2 ** 20;

/** What stands in the folder of set-ups. */
export function nativeState(folder: string = nativeFolder()): NativeState {
  const unsupported = unsupportedPlatform();
  return { folder, manifest: readManifest(currentLayout(folder)), unsupported: unsupported?.message ?? null };
}

/** Begins a set-up; an earlier one stays until the new one works. Gives the job's id. */
export function beginNativeSetup(
  host: Host,
  choice: SetupChoice,
  { folder = nativeFolder(), tryOut }: { readonly folder?: string; readonly tryOut?: TryOut } = {},
): number {
  const unsupported = unsupportedPlatform();
  if (unsupported !== null) throw unsupported;
  if (host.jobs.list().some(({ kind, state }) => kind === KIND && state === 'running'))
    throw inputError('SETUP_BUSY', 'Expected no set-up under way, but there is one', 'Wait for its end, or cancel it.');
  const work = async ({ signal, progress }: JobContext): Promise<void> => {
    const tried = tryOut ?? tryOutWith(host.paths, { signal });
    const place = { folder, sources: host.paths.addon, signal, tryOut: tried };
    await setUpNative({ ...choice, ...place, ...stepsOf(progress) });
  };
  const { id, result } = host.jobs.start(KIND, 'Set up the native backend', work);
  const told = (): void => host.changes.publish('native');
  // The list of jobs tells of a failure.
  result.then(told, told);
  return id;
}

/** Each step by its name, a long one with how far it is. */
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
