import { describe, expect, it } from 'vitest';
import { slotsOf } from '../../../main/tensor/native/slots.ts';

const A = { start: 0, length: 3 };
const B = { start: 3, length: 1 };

describe('slotsOf', () => {
  it('gives every prompt as many places', () => {
    const slots = slotsOf([A, A, B]);
    expect(slots).toMatchObject({ prompts: [A, B], perPrompt: 2, longest: 3, dense: false });
    expect(slots.rowOfSlot).toEqual([0, 1, 2, -1]);
    expect(slots.slotOfRow).toEqual([0, 1, 2]);
    expect([...(slots.mask ?? [])].map((value) => value === 0)).toEqual([true, true, true, true, false, false]);
  });

  it('needs neither gaps nor a mask where prompts and groups are alike', () => {
    expect(slotsOf([A, A])).toMatchObject({ dense: true, mask: null });
  });

  it('leaves gaps while a prompt still has all its rows, then closes them', () => {
    const gaps = slotsOf([A, A, B, B]).keep([0, 1, 3]);
    expect(gaps.taken).toBeNull();
    expect(gaps.slots.rowOfSlot).toEqual([0, 1, -1, 2]);
    const closed = gaps.slots.keep([1, 2]);
    expect(closed.taken).toEqual({ prompts: [0, 1], slots: [1, 3] });
    expect(closed.slots).toMatchObject({ perPrompt: 1, dense: true, longest: 3 });
  });

  it('drops a prompt whose rows have all ended, and keeps the padded length of its keys', () => {
    const { slots, taken } = slotsOf([A, A, B]).keep([2]);
    expect(taken).toEqual({ prompts: [1], slots: [2] });
    expect(slots).toMatchObject({ prompts: [B], perPrompt: 1, longest: 3 });
  });
});
