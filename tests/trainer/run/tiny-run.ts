/** Whole runs of the trainer in this process, on a tiny random model and a backend that stays open. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { openLocalEngine } from '../../../main/trainer/local/local-engine.ts';
import { openSession, type Session } from '../../../main/trainer/local/session.ts';
import { openControl } from '../../../main/trainer/loops/control.ts';
import { trainGrpo } from '../../../main/trainer/loops/grpo.ts';
import { trainPolychromicSft, trainSft } from '../../../main/trainer/loops/sft.ts';
import { openPhases } from '../../../main/trainer/monitor/phases.ts';
import type { TrainerStart } from '../../../main/trainer/protocol/start.ts';
import type { Metrics, TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { noProgress, restoreCheckpoint } from '../../../main/trainer/run/checkpoint.ts';
import { openRunIo } from '../../../main/trainer/run/open-run-io.ts';
import { atEndOfFile } from '../../end-of-file.ts';
import { tinyConfig, withoutTimes } from '../../left-by.ts';
import { processPaths } from '../../processes/paths.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openForTest } from '../../tensor/wasm/open.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { writeTinyModel } from '../../tiny-model.ts';

export { checkpointDigests, OF_THE_MACHINE, tinyConfig, withoutTimes } from '../../left-by.ts';

export interface TinyRun {
  readonly events: readonly TrainerEvent[];
  /** Each step's metrics but its times. */
  readonly steps: readonly Metrics[];
  readonly samples: readonly TrainerEvent[];
  /** The last checkpoint. */
  readonly checkpoint: string;
}

export interface TinyRunOptions {
  readonly model: string;
  readonly config: Partial<TrainConfig>;
  readonly task?: TrainerStart['task'];
  /** Asks for a stop once this step is done. */
  readonly stopAfter?: number;
  readonly resumeFrom?: string;
  readonly outputDir?: string;
  readonly records?: TrainerStart['records'];
  readonly evalRecords?: TrainerStart['evalRecords'];
  /** Called with each event, before what it causes. */
  readonly onEvent?: (event: TrainerEvent, control: ReturnType<typeof openControl>) => void;
  /** Stands in for a part of the session. */
  readonly replace?: (session: Session) => Partial<Session>;
}

const REWARD_WORKER = processPaths().rewardWorker;

/** By the method of the configuration. */
export const trainers = {
  grpo: trainGrpo,
  'polychromic-grpo': trainGrpo,
  sft: trainSft,
  'polychromic-sft': trainPolychromicSft,
} as const;

/** Opens the backend and writes a model; both serve all runs of a test file, and go when it ends. */
export async function openTiny(
  model = join(temporaryFolderOfFile(), 'model'),
): Promise<{ readonly runtime: WasmRuntime; readonly model: string }> {
  await writeTinyModel(model);
  const runtime = await openForTest(1);
  atEndOfFile(() => closeWasmBackend(runtime));
  return { runtime, model };
}

/** Opens the session of a run. */
export function tinySession(options: TinyRunOptions): Session {
  return openSession({
    kind: 'start',
    task: options.task ?? options.config.task ?? 'interleave',
    rewardWorker: REWARD_WORKER,
    config: parseConfig({ ...tinyConfig, ...options.config }),
    modelFolder: options.model,
    records: options.records ?? tinyDataset().train,
    evalRecords: options.evalRecords ?? [],
    outputDir: options.outputDir ?? temporaryFolder(),
    resumeFrom: options.resumeFrom ?? null,
    estimate: null,
    kernelsFile: '',
  });
}

/** Trains from start or checkpoint to the end or the stop. */
export async function tinyRun(options: TinyRunOptions): Promise<TinyRun> {
  const opened = tinySession(options);
  const events: TrainerEvent[] = [];
  const control = openControl((event) => emit(event));
  function emit(event: TrainerEvent): void {
    events.push(event);
    if (event.kind === 'step' && event.step === options.stopAfter) control.receive({ kind: 'stop' });
    options.onEvent?.(event, control);
  }
  try {
    const session = { ...opened, ...options.replace?.(opened) };
    const engine = openLocalEngine(session);
    const from = options.resumeFrom;
    const progress = from === undefined ? noProgress() : await restoreCheckpoint(from, session, engine);
    const io = openRunIo(session, engine, progress, control, openPhases(), emit);
    await trainers[session.config.method](session, engine, io).finally(() => engine.dispose());
  } finally {
    opened.dispose();
  }
  expectDocumented(events);
  const done = events.find((event) => event.kind === 'done');
  return {
    events,
    steps: events.flatMap((event) => (event.kind === 'step' ? [withoutTimes(event.metrics)] : [])),
    samples: events.filter(({ kind }) => kind === 'samples'),
    checkpoint: done?.kind === 'done' ? (done.path ?? '') : '',
  };
}

const document = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
/** `rewards/<function>/mean` stands for each function. */
const documented = [...document.matchAll(/`([a-z_]+\/?[\w/<>@]*)`/g)].map(
  ([, name = '']) => new RegExp(`^${name.replaceAll(/<\w+>/g, '[^/]+')}$`),
);

/** Whoever adds a metric has no other reminder of the document. */
function expectDocumented(events: readonly TrainerEvent[]): void {
  const names = new Set(events.flatMap((event) => (event.kind === 'step' ? Object.keys(event.metrics) : [])));
  const missing = [...names].filter((name) => !documented.some((pattern) => pattern.test(name)));
  if (missing.length > 0)
    throw new Error(`Expected docs/metrics.md to name each metric of a step, got ${missing.join(', ')}`);
}
