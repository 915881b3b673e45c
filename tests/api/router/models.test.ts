import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
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

  it('are exported into folders only that are open to the page', async () => {
    const world = await tinyWorkspace();
    const { client } = await overPorts(contextOf(openTinyApp(world)));
    const outside = temporaryFolder();
    const asked = { ref: 'bundled:tiny', name: 'copy', dtype: null, gguf: null };
    await expect(client.models.export({ ...asked, into: outside })).rejects.toMatchObject({
      data: { code: 'PATH_OUTSIDE' },
    });
    expect(readdirSync(outside)).toEqual([]);
    mkdirSync(join(world.root, 'copy'));
    await expect(client.models.export({ ...asked, into: world.root })).rejects.toMatchObject({
      data: { code: 'MODEL_EXISTS' },
    });
  });
});
