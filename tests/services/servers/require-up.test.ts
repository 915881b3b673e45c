import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEngineFile, saveEngine } from '../../../main/services/engines/engines.ts';
import { engineOfRun, requireUp } from '../../../main/services/servers/require-up.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { addRun, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { answerOn, engineWith, freePort, openDesk } from './desk.ts';

describe('the engine of a run that is resumed', () => {
  it('has to be up where its server is launched from here', async () => {
    const folder = temporaryFolder();
    const store = temporaryStore(folder);
    const engines = openEngineFile(join(folder, 'engines.json'));
    const port = await freePort();
    saveEngine(engines, engineWith(`http://127.0.0.1:${port}`, { kind: 'command', command: 'true' }));
    const settings = { model: 'tiny', dataset: 'd.jsonl' };
    const here = addRun(store, { configJson: JSON.stringify(parseConfig(settings)) });
    expect(engineOfRun(store, engines, here)).toBeNull();
    const run = addRun(store, { configJson: JSON.stringify(parseConfig({ ...settings, engine: 'cluster' })) });
    const engine = engineOfRun(store, engines, run);
    if (engine === null) throw new Error('Expected the engine of the run');
    const { servers } = openDesk();
    await expect(requireUp(servers, engine)).rejects.toMatchObject({ code: 'SERVER_NOT_UP', kind: 'input' });
    await answerOn(port);
    await requireUp(servers, engine);
  });
});
