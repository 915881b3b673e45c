import { describe, expect, it } from 'vitest';
import { shownState, waitsFor } from '../../../renderer/run/live-words.ts';

const live = { state: 'running', asked: null, step: 7, maxSteps: 40 } as const;

describe('waitsFor', () => {
  it('says what a trainer has been asked until it answers between two steps', () => {
    expect(waitsFor(live)).toBeNull();
    expect(waitsFor({ ...live, asked: 'pause' })).toBe('pausing after step 8 …');
    expect(waitsFor({ ...live, asked: 'pause', step: 0 })).toBe('pausing once this is done …');
    expect(waitsFor({ ...live, state: 'paused', asked: 'resume' })).toBe('resuming after step 7 …');
    expect(waitsFor({ ...live, state: 'stopping' })).toBe('stopping after step 8, then saving …');
    // Paused, it has no step to finish.
    expect(waitsFor({ ...live, state: 'stopping', asked: 'save' })).toBe('saving …');
    expect(waitsFor({ ...live, state: 'stopping', step: 40 })).toBe('stopping after step 40, then saving …');
  });

  it('says that a model is being loaded', () => {
    expect(waitsFor({ ...live, state: 'starting', step: 0 })).toBe('starting, loading the model …');
    expect(waitsFor({ ...live, state: 'starting' })).toBe('resuming from step 7, loading the model …');
  });
});

describe('shownState', () => {
  it('is the request from the moment that it is made', () => {
    expect(shownState({ state: 'running', asked: 'pause' })).toBe('pausing');
    expect(shownState({ state: 'paused', asked: 'resume' })).toBe('resuming');
    expect(shownState({ state: 'paused', asked: null })).toBe('paused');
  });
});
