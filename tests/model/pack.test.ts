import { describe, expect, it } from 'vitest';
import { packedLength, packGroups, predictedLengths } from '../../main/model/pack.ts';
import { fault } from './faults.ts';

const plain = (values: object): unknown =>
  Object.fromEntries(Object.entries(values).map(([key, list]) => [key, [...(list as Int32Array)]]));

describe('packGroups', () => {
  it('lays prompts and completions one after the other, each prompt once, last tokens left out', () => {
    const groups = [
      { promptIds: [10, 11], completions: [[1, 2, 3], [4], []] },
      { promptIds: [20], completions: [[5, 6]] },
    ];
    expect(plain(packGroups(groups))).toEqual({
      ids: [10, 11, 1, 2, 20, 5],
      positions: [0, 1, 2, 3, 0, 1],
      segments: [0, 2, 0, 0, 2, 2, 0, 2, 4, 1, 0, 0, 5, 1, 4, 1],
      predictors: [1, 2, 3, 1, 4, 5],
      targets: [1, 2, 3, 4, 5, 6],
    });
    expect(groups.map(packedLength)).toEqual([4, 2]);
  });

  it('predicts only the tokens that are to be predicted, after reading all of them', () => {
    const turns = { promptIds: [10, 11], completions: [[1, 2, 3, 4]], predicted: [[true, false, false, true]] };
    const packed = plain(packGroups([turns, { promptIds: [20], completions: [[5]] }]));
    expect(packed).toMatchObject({ ids: [10, 11, 1, 2, 3, 20], predictors: [1, 4, 5], targets: [1, 4, 5] });
    expect(predictedLengths(turns)).toEqual([2]);
  });

  it('rejects an empty prompt', () => {
    expect(fault(() => packGroups([{ promptIds: [], completions: [[1]] }]))[0]).toBe('EMPTY_PROMPT');
  });
});
