import { describe, expect, it } from 'vitest';
import { EMPTY_PUSH, pushOf } from '../../../renderer/models/push-form.ts';

describe('pushOf', () => {
  it('leaves what is empty to the model', () => {
    const form = { ...EMPTY_PUSH, repo: ' me/model ', license: ' ' };
    expect(pushOf({ ref: 'checkpoint:1' }, form)).toEqual({
      ref: 'checkpoint:1',
      repo: 'me/model',
      texts: true,
      runId: null,
      license: null,
      baseModel: null,
    });
    expect(pushOf({ ref: 'folder:/a' }, { ...form, run: '12', texts: false })).toMatchObject({
      runId: 12,
      texts: false,
    });
  });
});
