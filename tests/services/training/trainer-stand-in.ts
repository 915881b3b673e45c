/** Trainers that go wrong: the real entry, stopped by the system, or one that dies with words. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forkTrainer, type LaunchTrainer } from '../../../main/services/trainer-process/channel.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { TinyWorkspace } from '../tiny-workspace.ts';

/** `SIGSTOP`: the real trainer, frozen after its first steps. `crash`: one that dies after it is ready. */
export function forkOf(paths: TinyWorkspace['paths'], kind: 'SIGSTOP' | 'crash'): LaunchTrainer {
  return kind === 'crash' ? forkTrainer(crashing()) : () => frozen(paths.trainer());
}

function frozen(channel: ReturnType<LaunchTrainer>): ReturnType<LaunchTrainer> {
  let heard = 0;
  channel.onMessage(() => {
    if (++heard === 4 && channel.pid !== undefined) process.kill(channel.pid, 'SIGSTOP');
  });
  return channel;
}

function crashing(): string {
  const folder = temporaryFolder();
  const file = join(folder, 'entry.mjs');
  const ready = { kind: 'ready', backend: 'wasm', threads: 1, why: '', parameters: 1, trainable: 1, maxSteps: 9 };
  writeFileSync(
    file,
    `process.stderr.write('I0000 00:00:1795.46 27076 port.cc:153] oneDNN is on\\n');
    process.on('message', () => process.send([${JSON.stringify({ ...ready, maxCompletionLength: 4 })}], () => {
      throw new Error('Cannot allocate the moon');
    }));`,
  );
  return file;
}
