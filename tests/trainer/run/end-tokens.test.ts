import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../../main/model/load.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { UNFILTERED } from '../../../main/model/sampler.ts';
import { endTokens } from '../../../main/model/tokenizer.ts';
import type { Completion } from '../../../main/samples/completion.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { openAnswering } from '../../../main/trainer/jobs/answering-model.ts';
import { runGenerateJob } from '../../../main/trainer/jobs/generate-text.ts';
import { sampler } from '../../../main/trainer/jobs/sampler.ts';
import { openLocalEngine } from '../../../main/trainer/local/local-engine.ts';
import { openRemote } from '../../../main/trainer/tinker/open-remote.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openForTest } from '../../tensor/wasm/open.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { HASTE, remoteOf, remoteStart } from '../tinker/remote-run.ts';
import { openTinkerServer } from '../tinker/tinker-server.ts';
import { tinySession } from './tiny-run.ts';

/** The tokenizer's end token, and the one that config.json names. */
const [OWN, CONFIGURED] = [1, 2];
const SAMPLING = {
  numGenerations: 16,
  maxNewTokens: 24,
  temperature: 1,
  ...UNFILTERED,
  coordinates: [1, 2],
};
const PROMPTS = [[3, 7, 4, 8, 5]];

let runtime: WasmRuntime;
let base: Model;
const root = temporaryFolderOfFile();
const folder = join(root, 'both');
/** Its config.json names none. */
const silent = join(root, 'silent');
beforeAll(async () => {
  disposeModel(await writeTinyModel(folder, { eosTokenIds: [CONFIGURED] }));
  disposeModel(await writeTinyModel(silent, { eosTokenIds: [] }));
  runtime = await openForTest(1);
  base = loadModel(folder, 64);
});
afterAll(async () => {
  disposeModel(base);
  await closeWasmBackend(runtime);
});

/** Completions stop at both, and count as ended only there. */
function expectBoth(completions: readonly Completion[]): void {
  const last = completions.flatMap(({ ids }) => ids.at(-1) ?? []);
  expect(last).toEqual(expect.arrayContaining([OWN, CONFIGURED]));
  for (const { ids, terminated } of completions) {
    expect(ids.slice(0, -1)).not.toContain(OWN);
    expect(ids.slice(0, -1)).not.toContain(CONFIGURED);
    expect(terminated).toBe([OWN, CONFIGURED].includes(ids.at(-1) ?? -1));
  }
}

describe('endTokens', () => {
  it("adds the tokenizer's to the model's, each once", () => {
    expect(endTokens({ eosTokenId: 1 }, [2, 3])).toEqual([2, 3, 1]);
    expect(endTokens({ eosTokenId: 2 }, [2, 3])).toEqual([2, 3]);
    expect(endTokens({ eosTokenId: null }, [2])).toEqual([2]);
    expect(endTokens({ eosTokenId: 1 }, [])).toEqual([1]);
  });
});

describe("a model whose tokenizer names another end token than its config.json's", () => {
  it('stops at both in a run', async () => {
    const session = tinySession({ model: folder, config: { max_completion_length: 24 } });
    const engine = openLocalEngine(session);
    expectBoth(await engine.sample(PROMPTS, SAMPLING));
    await engine.dispose();
    session.dispose();
  });

  it('stops at both in an evaluation', async () => {
    const opened = { policy: { model: base, adapter: null }, activationMb: 1024, dispose: () => undefined };
    const none = { records: [], maxCompletionLength: null };
    const engine = sampler(
      openAnswering({ base: folder, adapter: null, tokenizer: folder }, interleaveTask, none, () => opened),
    );
    expectBoth(await engine.sample(PROMPTS, SAMPLING));
  });

  it("stops at the tokenizer's in the playground", async () => {
    let ended = 0;
    for (let seed = 0; seed < 12; seed++) {
      const { tokens, terminated } = await runGenerateJob(
        {
          kind: 'generate',
          prompt: '<a> wb <b> wc <out>',
          quoted: [],
          target: '',
          maxNewTokens: 24,
          model: { base: silent, adapter: null, tokenizer: silent },
          beside: [],
          temperature: 1,
          seed,
          backend: 'wasm',
          threads: 1,
          kernelsFile: '',
        },
        {
          backend: { name: 'wasm', threads: 1 },
          progress: async () => undefined,
          messages: () => undefined,
          alive: () => undefined,
          text: () => undefined,
        },
      );
      expect(terminated).toBe(tokens < 24);
      if (terminated) ended++;
    }
    expect(ended).toBeGreaterThan(0);
  });

  it('stops at both on an engine of the Tinker protocol', async () => {
    const server = await openTinkerServer({ model: base, rule: 'sum' });
    const remote = await openRemote(remoteStart({ server, model: folder }), remoteOf(server), HASTE);
    try {
      expectBoth(await remote.engine.sample(PROMPTS, SAMPLING));
    } finally {
      await remote.close();
      await server.close();
    }
  }, 30_000);
});
