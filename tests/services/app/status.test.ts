import { describe, expect, it } from 'vitest';
import { gpusInSight, runsElsewhere } from '../../../main/services/app/status.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { currentHost } from '../../../main/services/workspace/host.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';

describe('gpusInSight', () => {
  const used = { name: 'Radeon RX 7900', freeBytes: 20, shared: false, cuda: false };

  it('is all that nvidia-smi lists, otherwise the GPU of runs with what is known of it', () => {
    const listed = [{ name: 'NVIDIA A40', freeBytes: 30, totalBytes: 48 }];
    expect(gpusInSight(listed, used)).toEqual(listed);
    expect(gpusInSight([], used)).toEqual([{ name: 'Radeon RX 7900', freeBytes: 20, totalBytes: null }]);
    expect(gpusInSight([], null)).toEqual([]);
  });
});

describe('runsElsewhere', () => {
  it('lists the runs that another living process trains', () => {
    const store = temporaryStore();
    const config = parseConfig({ max_steps: 90 });
    const ended = createRun(store, config);
    const gone = createRun(store, config);
    const terminal = createRun(store, config);
    store.runs.advance(terminal.runId, 12);
    store.runs.claim(gone.runId, { pid: 2 ** 30, hostId: 'elsewhere:1' });
    store.runs.setState(ended.runId, 'done', null);
    const app = { pid: 1, hostId: 'this machine:0' };
    const listed = { runId: terminal.runId, name: terminal.name, state: 'running', step: 12, maxSteps: 90 };
    expect(runsElsewhere(store, app)).toMatchObject([listed, { runId: gone.runId }]);
    store.runs.claim(gone.runId, { ...currentHost(), pid: 2 ** 30 });
    expect(runsElsewhere(store, app)).toEqual([listed]);
    // Its own runs are in its list of live ones.
    expect(runsElsewhere(store, currentHost())).toEqual([]);
    store.runs.setState(terminal.runId, 'paused', null);
    expect(runsElsewhere(store, app)).toMatchObject([{ state: 'paused' }]);
  });
});
