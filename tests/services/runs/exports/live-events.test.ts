import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLiveEvents } from '../../../../main/services/runs/exports/live-events.ts';
import { maskedCrc, tensorBoardFile } from '../../../../main/services/runs/exports/tensorboard.ts';
import { resumeTraining, startTraining } from '../../../../main/services/training/training.ts';
import type { TrainerEvent } from '../../../../main/trainer/protocol/trainer-events.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { tinyWorkspace } from '../../tiny-workspace.ts';

/** The data of a file's records, their checksums checked. */
function recordsOf(bytes: Uint8Array): Uint8Array[] {
  const records: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const length = Number(view.getBigUint64(at, true));
    expect(view.getUint32(at + 8, true)).toBe(maskedCrc(bytes.subarray(at, at + 8)));
    const data = bytes.subarray(at + 12, at + 12 + length);
    expect(view.getUint32(at + 12 + length, true)).toBe(maskedCrc(data));
    records.push(data);
    at += 16 + length;
  }
  return records;
}

const now = () => new Date(1_700_000_000_000);

describe('openLiveEvents', () => {
  it('writes what an export writes, record by record', () => {
    const folder = join(temporaryFolder(), 'events', 'run-1');
    const live = openLiveEvents(folder, 0, now);
    live.add(1, { reward: 0.5 });
    live.add(2, { reward: 0.75, loss: Number.NaN });
    const [file = ''] = readdirSync(folder);
    expect(file).toMatch(/^events\.out\.tfevents\.1700000000\.braid\.\d+\.0$/);
    const wallTime = 1_700_000_000;
    const whole = tensorBoardFile([
      { step: 1, wallTime, values: { reward: 0.5 } },
      { step: 2, wallTime, values: { reward: 0.75, loss: Number.NaN } },
    ]);
    expect(readFileSync(join(folder, file)).equals(whole)).toBe(true);
    expect(recordsOf(whole)).toHaveLength(3);
  });

  it('marks where a resumed run starts again, in a file of its own', () => {
    const folder = temporaryFolder();
    openLiveEvents(folder, 0, now).add(5, { reward: 1 });
    const setBack = () => new Date(now().getTime() - 3_600_000);
    openLiveEvents(folder, 3, setBack).add(4, { reward: 0 });
    const files = readdirSync(folder).sort();
    expect(files).toHaveLength(2);
    const [, mark] = recordsOf(readFileSync(join(folder, files[1] ?? '')));
    // wall_time (field 1), step 4 (field 2), session_log (field 7) with status START (field 1 = 1).
    expect([...(mark ?? [])].slice(9)).toEqual([0x10, 4, 0x3a, 2, 0x08, 1]);
  });
});

describe('a run with logging_dir', () => {
  it('writes the metrics of its steps and evaluations as it trains', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const logging_dir = join(temporaryFolder(), 'tensorboard');
    const run = startTraining(store, config({ max_steps: 2, eval_steps: 1, eval_records: 2, logging_dir }), { paths });
    expect((await run.outcome).state).toBe('done');
    const [folder = ''] = readdirSync(logging_dir);
    expect(run.folder.endsWith(folder)).toBe(true);
    const [file = ''] = readdirSync(join(logging_dir, folder));
    const text = readFileSync(join(logging_dir, folder, file));
    // The version, the baseline, then each step and its evaluation.
    expect(recordsOf(text)).toHaveLength(1 + 1 + 2 * 2);
    expect([text.includes('reward_std'), text.includes('eval_alignment')]).toEqual([true, true]);
  });

  it('marks its start again where it is resumed before its first checkpoint', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const logging_dir = join(temporaryFolder(), 'tensorboard');
    const settings = config({ max_steps: 1000, save_steps: 1000, eval_steps: 0, logging_dir });
    const kill = (events: readonly TrainerEvent[]): void => {
      if (events.some(({ kind }) => kind === 'step')) run.kill();
    };
    const run = startTraining(store, settings, { paths, onEvents: kill });
    expect((await run.outcome).state).toBe('interrupted');
    const again = resumeTraining(store, run.runId, { paths, maxSteps: 2 });
    expect((await again.outcome).state).toBe('done');
    const [folder = ''] = readdirSync(logging_dir);
    const marks = readdirSync(join(logging_dir, folder)).flatMap((file) =>
      recordsOf(readFileSync(join(logging_dir, folder, file))).filter(
        (data) => [...data].slice(11, 13).join() === '58,2',
      ),
    );
    // One, at step 0: TensorBoard drops all that the killed trainer wrote.
    expect(marks.map((data) => [...data].slice(9))).toEqual([[0x10, 0, 0x3a, 2, 0x08, 1]]);
  });

  it('trains on where the folder can not be written, with one warning', async () => {
    const { store, paths, config, dataset } = await tinyWorkspace();
    const run = startTraining(store, config({ max_steps: 2, logging_dir: join(dataset, 'under-a-file') }), { paths });
    expect((await run.outcome).state).toBe('done');
    const warnings = store.events.ofRun(run.runId).filter(({ kind }) => kind === 'files');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain('the TensorBoard events');
  });
});
