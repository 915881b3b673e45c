/** The built desktop app on a tiny workspace, with its page's client. */
import { type TinyWorkspace, tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';
import { type Desktop, type Page, type StartOptions, startDesktop } from './desktop.ts';

const fast = {
  backend: 'wasm',
  per_device_train_batch_size: 8,
  num_generations: 4,
  threads: 1,
  learning_rate: 0.01,
  use_peft: true,
} as const;
/** Long enough to be met at work. */
export const LONG = 2000;

export interface World {
  readonly world: TinyWorkspace;
  readonly desktop: Desktop;
  readonly client: Page['client'];
  start(max_steps: number): Promise<number>;
  /** Waits until the run has done this many steps. */
  reached(runId: number, step: number): Promise<void>;
  /** Waits until no trainer is there any more. */
  idle(): Promise<void>;
}

/** Starts the app and opens its page. */
export async function openDesktop(options: StartOptions = {}): Promise<World> {
  const world = await tinyWorkspace();
  const desktop = startDesktop({ ...options, workspace: world.root });
  await desktop.asked('window.show');
  const page = await desktop.page();
  if (page === null) throw new Error('Expected a port for the own page');
  const { client } = page;
  return {
    world,
    desktop,
    client,
    start: async (max_steps) => {
      const config = { ...fast, max_steps, save_steps: 5, model: world.model, dataset: world.dataset };
      return (await client.runs.start({ config })).runId;
    },
    reached: (runId, step) => until(async () => (await client.runs.get({ runId })).step >= step),
    idle: () => until(async () => (await client.app.status()).live.length === 0),
  };
}
