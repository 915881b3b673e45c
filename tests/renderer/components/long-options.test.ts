import { describe, expect, it } from 'vitest';
import { flatOptions, optionsFilter } from '../../../renderer/components/long-options.ts';

const option = (value: string, label = value) => ({ value, label });
const data = [
  option('tiny'),
  { group: 'first sweep', items: [option('a', 'first · step 10'), option('b', 'first · step 20')] },
  { group: 'second sweep', items: [option('c', 'second · step 10')] },
];
const { options, groups } = flatOptions(data);
const find = (search: string, limit = 50) =>
  optionsFilter(groups)({ options: options.filter((one) => typeof one !== 'string'), search, limit });

describe('flatOptions', () => {
  it('keeps the order, and which option is in which group', () => {
    expect(options.map((one) => (typeof one === 'string' ? one : one.value))).toEqual(['tiny', 'a', 'b', 'c']);
    expect([...groups]).toEqual([
      ['a', 'first sweep'],
      ['b', 'first sweep'],
      ['c', 'second sweep'],
    ]);
  });
});

describe('optionsFilter', () => {
  it('has every option under its group without a search', () => {
    expect(find('')).toEqual(data);
  });

  it('finds options with all the words in any order', () => {
    expect(find('10 second')).toEqual([data[2]]);
    expect(find('third')).toEqual([]);
  });

  it('counts options, so that groups without any leave room for those after them', () => {
    const many = flatOptions(
      Array.from({ length: 2000 }, (_, i) => ({ group: `run ${i}`, items: [option(`rate ${i}`)] })),
    );
    const all = many.options.filter((one) => typeof one !== 'string');
    const found = optionsFilter(many.groups)({ options: all, search: 'rate 1999', limit: 50 });
    expect(found).toEqual([{ group: 'run 1999', items: [option('rate 1999')] }]);
    expect(optionsFilter(many.groups)({ options: all, search: '', limit: 50 })).toHaveLength(50);
  });
});
