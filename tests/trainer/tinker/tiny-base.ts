/** The tiny model on the disk, and loaded as the test server's base, for all tests of a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModel } from '../../../main/model/load.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import { openTiny } from '../run/tiny-run.ts';

export interface TinyBase {
  readonly folder: string;
  readonly base: Model;
  close(): Promise<void>;
}

export async function openTinyBase(): Promise<TinyBase> {
  const root = mkdtempSync(join(tmpdir(), 'braid-test-'));
  const { runtime, model: folder } = await openTiny(join(root, 'model'));
  const base = loadModel(folder, 64);
  return {
    folder,
    base,
    close: async () => {
      disposeModel(base);
      await closeWasmBackend(runtime);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
