import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { until } from '../../until.ts';
import { contextOf, openTinyApp, overPorts } from '../transports.ts';

const standard = { from: 'auto', package: null, addon: null, cpu: true };

/** One is running already, so that no other starts: the error says how far a request came. */
async function errorsOfSetUp(mayLaunch: boolean) {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  app.jobs.start('native-setup', 'Set up', ({ signal }) => until(() => signal.aborted));
  const { client } = await overPorts(contextOf(app, mayLaunch));
  const errorOf = (change: Partial<Parameters<typeof client.native.setUp>[0]>): Promise<unknown> =>
    client.native.setUp({ ...standard, ...change }).catch((error) => error.data);
  return { errorOf, own: join(world.root, 'own') };
}

/** Linux has a native backend; elsewhere this is said first. */
const began = { code: process.platform === 'linux' ? 'SETUP_BUSY' : 'UNSUPPORTED_PLATFORM' };

describe('native', () => {
  it('lets a page of a browser start the standard set-up, and bring nothing that would run', async () => {
    const { errorOf, own } = await errorsOfSetUp(false);
    for (const from of ['auto', 'own', 'pip']) expect(await errorOf({ from }), from).toMatchObject(began);
    for (const brought of [
      ...['https://a.example/x.whl', 'pip:x', 'pip:x @ https://a.example/x.whl', own].map((from) => ({ from })),
      ...[{ package: 'https://a.example/x.tgz' }, { package: own }, { addon: own }],
    ])
      expect(await errorOf(brought), JSON.stringify(brought)).toMatchObject({
        code: 'SETUP_NOT_FROM_PAGE',
        remedy: expect.stringContaining('braid setup-native'),
      });
  });

  it('lets the desktop name any source, with files that it may read', async () => {
    const { errorOf, own } = await errorsOfSetUp(true);
    for (const brought of [{ from: 'https://a.example/x.whl' }, { from: 'pip:x' }, { package: own }, { addon: own }])
      expect(await errorOf(brought), JSON.stringify(brought)).toMatchObject(began);
    expect(await errorOf({ addon: '/etc/passwd' })).toMatchObject({ code: 'PATH_OUTSIDE' });
  });
});
