import { describe, expect, it } from 'vitest';
import { hash32, randomStream, uniform } from '../main/random.ts';

describe('randomStream', () => {
  it.each([[[7, 1]], [[-5e9, 0xffffffff]], [[]]])('gives the uniforms under its coordinates: %j', (coordinates) => {
    const { next } = randomStream(...coordinates);
    const base = hash32(...coordinates);
    expect([next(), next(), next()]).toEqual([uniform(base, 0), uniform(base, 1), uniform(base, 2)]);
  });
});
