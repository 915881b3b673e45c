import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { runGenerateJob } from '../../../main/trainer/jobs/generate-text.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';

const model = join(temporaryFolderOfFile(), 'model');
disposeModel(await writeTinyModel(model));

describe('runGenerateJob', () => {
  it('shows the text from its beginning again when memory ran out in the middle of it', async () => {
    const told: { text: string; tokens: number }[] = [];
    let failed = false;
    const result = await runGenerateJob(
      {
        kind: 'generate',
        prompt: 'wa wb',
        quoted: [],
        target: '',
        temperature: 1,
        seed: 5,
        maxNewTokens: 6,
        model: { base: model, adapter: null, tokenizer: model },
        beside: [],
        backend: 'wasm',
        threads: 1,
        kernelsFile: '',
      },
      {
        backend: { name: 'wasm', threads: 1 },
        progress: async () => undefined,
        messages: () => undefined,
        alive: () => {
          // Texts are reported at most every 30 ms.
          const until = performance.now() + 31;
          while (performance.now() < until);
          if (failed || told.length < 3) return;
          failed = true;
          throw new BraidError('OUT_OF_MEMORY', 'no room');
        },
        text: (text, tokens) => told.push({ text, tokens }),
      },
    );
    expect(failed).toBe(true);
    expect(told.map(({ tokens }) => tokens).slice(0, 5)).toEqual([1, 2, 3, 1, 2]);
    expect(told.at(-1)).toEqual({ text: result.text, tokens: result.tokens });
  });
});
