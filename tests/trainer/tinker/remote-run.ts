/** Whole runs on the test server, in this process. */

import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { openControl } from '../../../main/trainer/loops/control.ts';
import { openPhases } from '../../../main/trainer/monitor/phases.ts';
import type { RemoteEngine } from '../../../main/trainer/protocol/remote.ts';
import type { TrainerStart } from '../../../main/trainer/protocol/start.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { noProgress, restoreCheckpoint } from '../../../main/trainer/run/checkpoint.ts';
import { openRunIo } from '../../../main/trainer/run/open-run-io.ts';
import type { Patience } from '../../../main/trainer/tinker/http.ts';
import { openRemote } from '../../../main/trainer/tinker/open-remote.ts';
import { tinyConfig } from '../../left-by.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { trainers } from '../run/tiny-run.ts';
import type { TinkerServer } from './tinker-server.ts';

/** Short enough for tests. */
export const HASTE: Patience = { totalMs: 20_000, attemptMs: 10_000, pauseMs: 5, heartbeatMs: 20, tidyMs: 1000 };

/** The adapter's alpha is the server's. */
export const remoteConfig: Partial<TrainConfig> = { ...tinyConfig, engine: 'test', lora_alpha: 32 };

export function remoteOf({ url }: Pick<TinkerServer, 'url'>, more: Partial<RemoteEngine> = {}): RemoteEngine {
  return { name: 'test', url, baseModel: 'tiny', key: null, allowPlain: false, prices: null, ...more };
}

export interface RemoteRunOptions {
  readonly server: Pick<TinkerServer, 'url'>;
  readonly model: string;
  readonly config?: Partial<TrainConfig>;
  readonly remote?: Partial<RemoteEngine>;
  readonly resumeFrom?: string;
  readonly records?: TrainerStart['records'];
  readonly evalRecords?: TrainerStart['evalRecords'];
  readonly stopAfter?: number;
  readonly onEvent?: (event: TrainerEvent) => void;
}

export function remoteStart(options: RemoteRunOptions): TrainerStart {
  return {
    kind: 'start',
    task: 'interleave',
    rewardWorker: '',
    config: parseConfig({ ...remoteConfig, ...options.config }),
    modelFolder: options.model,
    records: options.records ?? tinyDataset().train,
    evalRecords: options.evalRecords ?? [],
    outputDir: temporaryFolder(),
    resumeFrom: options.resumeFrom ?? null,
    estimate: null,
    kernelsFile: '',
  };
}

/** Trains to the end, the stop or the error, which is thrown; `events` has what came before. */
export async function remoteRun(options: RemoteRunOptions, events: TrainerEvent[] = [], patience = HASTE) {
  const start = remoteStart(options);
  const control = openControl((event) => emit(event));
  function emit(event: TrainerEvent): void {
    events.push(event);
    if (event.kind === 'step' && event.step === options.stopAfter) control.receive({ kind: 'stop' });
    options.onEvent?.(event);
  }
  const opened = await openRemote(start, remoteOf(options.server, options.remote), patience);
  try {
    const { stage, engine } = opened;
    const progress =
      start.resumeFrom === null ? noProgress() : await restoreCheckpoint(start.resumeFrom, stage, engine);
    const io = openRunIo(stage, engine, progress, control, openPhases(), emit);
    await trainers[start.config.method](stage, engine, io);
  } finally {
    await opened.close();
  }
  const done = events.find((event) => event.kind === 'done');
  return {
    events,
    steps: events.flatMap((event) => (event.kind === 'step' ? [event.metrics] : [])),
    checkpoint: done?.kind === 'done' ? (done.path ?? '') : '',
    rule: opened.rule,
  };
}
