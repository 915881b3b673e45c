import { describe, expect, it } from 'vitest';
import { resolveModelParts } from '../../../main/services/models/resolve.ts';
import { type AnswerPart, keepModel } from '../../../main/services/serving/kept-model.ts';
import type { AnswerRequest } from '../../../main/trainer/protocol/answers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const ASKED: AnswerRequest = {
  prompt: { kind: 'text', text: 'wa wb' },
  n: 1,
  maxTokens: 8,
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: null,
  repetitionPenalty: 1,
  seed: 3,
  stop: [],
  logprobs: 1,
};

describe('keepModel', () => {
  it('answers several at once, drops what nobody waits for, and says why it ended', async () => {
    const { model, paths } = await tinyWorkspace();
    const kept = await keepModel({
      model: resolveModelParts(model, paths),
      launch: paths.trainer,
      backend: 'wasm',
      threads: 1,
      kernelsFile: paths.kernels,
    });
    const all = async (request: AnswerRequest): Promise<AnswerPart[]> => {
      const parts: AnswerPart[] = [];
      for await (const part of kept.ask(request)) parts.push(part);
      return parts;
    };
    expect(kept.backend).toBe('wasm');
    const [one, other, same] = await Promise.all([all(ASKED), all({ ...ASKED, seed: 4, n: 2 }), all(ASKED)]);
    expect(one).toEqual(same);
    expect(one.at(-1)).toMatchObject({ kind: 'ended', choice: 0 });
    expect(other.filter(({ kind }) => kind === 'ended')).toHaveLength(2);

    for await (const part of kept.ask({ ...ASKED, maxTokens: null })) if (part.kind === 'delta') break;
    await expect(all({ ...ASKED, maxTokens: 1e6 })).rejects.toMatchObject({ code: 'CONTEXT_TOO_SHORT', kind: 'input' });
    const waiting = expect(all({ ...ASKED, maxTokens: 48 })).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await kept.stop();
    await waiting;
    expect(await kept.ended).toBe(null);
    await expect(all(ASKED)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
