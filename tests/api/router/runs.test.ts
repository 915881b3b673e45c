import { describe, expect, it } from 'vitest';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { contextOf, openTinyApp, overPorts } from '../transports.ts';

describe('runs.start', () => {
  it('takes the settings of a run but for those that are given, under a name of its own', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const { client } = await overPorts(contextOf(app));
    const config = { ...world.config({ method: 'sft', max_steps: 1, learning_rate: 0.25 }) };
    const first = await client.runs.start({ config, name: 'warm/seed_42' });
    await app.live.outcome(first.runId);
    const second = await client.runs.start({ like: first.runId, name: 'warm/seed_43', config: { seed: 43 } });
    await app.live.outcome(second.runId);
    const differing = await client.runs.compareConfigs({ runIds: [first.runId, second.runId] });
    expect(differing.map(({ field }) => field)).toEqual(['seed']);
    expect((await client.runs.get(second)).name).toBe('warm/seed_43');
    await expect(client.runs.start({ like: 99, config: {} })).rejects.toMatchObject({ data: { code: 'RUN_UNKNOWN' } });
  });
});
