import { beforeEach, describe, expect, it } from 'vitest';
import { patient } from '../../../main/tensor/webgpu/patience.ts';

/** What a turn of the event loop takes. */
const TURN_MS = 0.02;

let [time, longest] = [0, 0];
let turns: (() => void)[] = [];
let later: (callback: () => void) => unknown;

beforeEach(() => {
  [time, longest, turns] = [0, 0, []];
  const sleep = (ms: number): void => {
    time += ms;
    longest = Math.max(longest, ms);
  };
  later = patient((callback) => turns.push(callback), { now: () => time, sleep });
});

function runTurns(): void {
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    time += TURN_MS;
    turn();
  }
}

/** Dawn's way to wait: it asks again from within its callback until work of `takes` ms is done. */
function waitFor(takes: number): { readonly looks: number; readonly waited: number } {
  const start = time;
  let looks = 0;
  const look = (): void => {
    looks++;
    if (time - start < takes) later(look);
  };
  later(look);
  runTurns();
  return { looks, waited: time - start };
}

describe('patient', () => {
  it('looks all the time at first, then ever more seldom, at most a thirtieth late', () => {
    expect(waitFor(0.15).looks).toBe(8);
    expect(longest).toBe(0);
    const { looks, waited } = waitFor(30);
    expect(looks).toBeLessThan(200);
    expect(waited).toBeLessThan(31.1);
  });

  it('never sleeps for longer than work may be held up', () => {
    waitFor(5000);
    expect(longest).toBe(2);
  });

  it('starts again with each wait, also after a callback that throws', () => {
    waitFor(1000);
    longest = 0;
    later(() => {
      throw new Error('of Dawn');
    });
    expect(runTurns).toThrow('of Dawn');
    waitFor(0.15);
    expect(longest).toBe(0);
  });
});
