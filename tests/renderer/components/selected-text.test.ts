import { describe, expect, it } from 'vitest';
import { selectedText } from '../../../renderer/components/selected-text.ts';

const rows = (...ids: readonly number[]) => ids.map((id) => ({ id }));

describe('selectedText', () => {
  it('counts the selected rows, and those of them that are hidden', () => {
    expect(selectedText(rows(1, 2), rows(1, 2, 3))).toBe('2 selected');
    expect(selectedText(rows(1, 2, 4), rows(1, 2, 3))).toBe('3 selected, 1 not shown');
  });
});
