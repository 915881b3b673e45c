import { describe, expect, it } from 'vitest';
import { hostFilter, noFilter, type Place, readPlace, writePlace } from '../../../renderer/samples/place.ts';

const nowhere: Place = { show: 'step', run: null, step: null, group: null, record: null, filter: noFilter };

describe('readPlace and writePlace', () => {
  it('go from one to the other and back', () => {
    const places: readonly Place[] = [
      nowhere,
      { ...nowhere, run: 7, step: 0, group: 3 },
      { ...nowhere, show: 'record', run: 7, record: '10w-train & more=1' },
      {
        ...nowhere,
        show: 'find',
        run: 2,
        filter: {
          everyRun: true,
          order: 'lowest',
          words: 'the "box"',
          inPrompts: true,
          below: 0.5,
          above: 0,
          exact: false,
          terminated: false,
          component: { name: 'a b', above: 0.25 },
        },
      },
      { ...nowhere, show: 'pins' },
    ];
    for (const place of places) expect(readPlace(writePlace(place).split('?')[1] ?? '')).toEqual(place);
  });

  it('omit default values', () => {
    expect(writePlace(nowhere)).toBe('/samples');
    expect(writePlace({ ...nowhere, run: 7, step: 140 })).toBe('/samples?run=7&step=140');
  });

  it('ignore invalid values', () => {
    expect(readPlace('show=what&run=-1&step=x&group=1.5&order=up&below=much&exact=maybe')).toEqual(nowhere);
    expect(readPlace('show=record')).toEqual(nowhere);
    expect(readPlace('run=0').run).toBeNull();
  });
});

describe('hostFilter', () => {
  it('includes the run unless every run is searched', () => {
    expect(hostFilter({ ...noFilter, below: 0.5 }, 7)).toEqual({ below: 0.5, runId: 7 });
    expect(hostFilter({ ...noFilter, everyRun: true }, 7)).toEqual({});
    expect(hostFilter(noFilter, null)).toEqual({});
  });
});
