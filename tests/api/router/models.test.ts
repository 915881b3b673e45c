import { describe, expect, it } from 'vitest';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { contextOf, openTinyApp, overPorts } from '../transports.ts';

describe('models', () => {
  it('say why one is not deleted, and what is not there to be served', async () => {
    const { client } = await overPorts(contextOf(openTinyApp(await tinyWorkspace())));
    await expect(client.models.remove({ ref: 'bundled:tiny' })).rejects.toMatchObject({
      data: { code: 'MODEL_IN_USE' },
    });
    await expect(client.models.serve({ ref: 'workspace:none' })).rejects.toMatchObject({
      data: { code: 'MODEL_UNKNOWN' },
    });
  });
});
