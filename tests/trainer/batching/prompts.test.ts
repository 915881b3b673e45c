import { describe, expect, it } from 'vitest';
import { checkContext, type TokenRecord } from '../../../main/trainer/batching/prompts.ts';

const record = (id: string, tokens: number) =>
  ({ record: { id, prompt: '' }, promptIds: Array.from({ length: tokens }, () => 1), targetIds: [1] }) as TokenRecord;
const model = { maxPositionEmbeddings: 100, longRope: null } as Parameters<typeof checkContext>[2];

describe('checkContext', () => {
  const records = [record('short', 10), record('long', 70)];

  it('names the record that leaves too little of the context, and advises by the task', () => {
    expect(() => checkContext(records, 30, model, { name: 'mine' })).not.toThrow();
    const check = (name: string) => () => checkContext(records, 31, model, { name });
    const said = (remedy: RegExp) =>
      expect.objectContaining({
        code: 'CONTEXT_TOO_SHORT',
        message: "record long: its prompt has 70 tokens and a completion up to 31, and the model's context holds 100",
        remedy: expect.stringMatching(remedy),
      });
    expect(check('mine')).toThrow(said(/^Shorten this record/));
    expect(check('interleave')).toThrow(said(/^Use a shorter stage/));
  });
});
