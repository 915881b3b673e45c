import { describe, expect, it } from 'vitest';
import { startDemoStage } from '../../../main/services/curriculum/demo-stage.ts';
import { openTinyApp } from '../../api/transports.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

describe('startDemoStage', () => {
  it('puts one stage first, with the steps that Home promises, and starts it again later', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const started: number[] = [];
    const queue = { start: (stageId: number) => started.push(stageId) };
    for (let click = 0; click < 2; click++) await startDemoStage({ ...app, queue });
    const [stage, ...others] = app.store.stages.list();
    expect(stage).toMatchObject({ name: 'Demo: 10 words', position: 0, steps: 45 });
    expect(others).toEqual([]);
    expect(started).toEqual([stage?.id, stage?.id]);
  });
});
