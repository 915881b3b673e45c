import { describe, expect, it } from 'vitest';
import { controlOf, noRollBack } from '../../../renderer/run/control.ts';
import type { RunFeed } from '../../../renderer/run/run-feed.ts';

const feed = (state: RunFeed['run']['state'], { live = false, backend = 'wasm' } = {}) =>
  ({ run: { state, backend }, live: live ? { state: 'running' } : null }) as unknown as RunFeed;

describe('what can be done with a run from here', () => {
  it.each([
    ['one that trains here', feed('running', { live: true }), 'here', 'Stop the run first'],
    ['one that ended', feed('stopped'), 'here', null],
    ['one that trains in a terminal', feed('running'), 'elsewhere', 'The run is training in another process'],
    ['one that is paused there', feed('paused'), 'elsewhere', 'The run is training in another process'],
    [
      ...(['one that TRL trained', feed('done', { backend: 'TRL' }), 'imported'] as const),
      'TRL trained this run; start a new stage from the checkpoint',
    ],
  ] as const)('%s', (_, of, control, why) => {
    expect(controlOf(of)).toBe(control);
    expect(noRollBack(of)).toBe(why);
  });
});
