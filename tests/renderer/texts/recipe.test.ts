import { describe, expect, it } from 'vitest';
import { readRecipe } from '../../../renderer/texts/recipe.ts';

describe('readRecipe', () => {
  it('is the recipe as it was kept, with what is unknown or damaged as at first', () => {
    const first = readRecipe(null);
    expect(first).toMatchObject({ train: 512, name: '', stages: [10, 25, 50, 100, 200, 500] });
    const own = { ...first, stages: [30], train: 24, seed: 0, name: 'river', template: { name: 'mine', version: 2 } };
    expect(readRecipe(JSON.stringify(own))).toEqual(own);
    expect(readRecipe('{"stages":[0,"x",25],"train":-1,"seed":"7","template":null,"mixed":1}')).toEqual({
      ...first,
      stages: [25],
    });
    expect(readRecipe('no JSON')).toEqual(first);
  });
});
