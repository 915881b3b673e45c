/** Asks the newest two checkpoints of a workspace at the same time, as the playground does: `playground.ts WORKSPACE A B`. */
import { join } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { listModels } from '../../main/services/models/list.ts';
import { answer } from '../../main/services/playground/playground.ts';
import { openChanges } from '../../main/services/workspace/changes.ts';
import { openJobs } from '../../main/services/workspace/jobs.ts';
import { locateWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';

const [folder = '', a = '', b = ''] = process.argv.slice(2);
const workspace = locateWorkspace({ workspace: folder });
const store = openStore(workspace.database);
try {
  const place = {
    store,
    workspace,
    paths: checkoutPaths(join(import.meta.dirname, '../..')),
    jobs: openJobs(openChanges()),
  };
  const models = listModels(place).filter(({ kind, problem }) => kind === 'checkpoint' && problem === null);
  const asked = models.slice(0, 2);
  if (asked.length < 2) throw new Error(`Expected two checkpoints in ${folder}, got ${asked.length}`);
  await Promise.all(
    asked.map(async ({ ref, name }) => {
      const beside = asked.flatMap((other) => (other.ref === ref ? [] : [other.ref]));
      const answers = answer(place, { model: ref, a, b, temperature: 0, seed: 1, beside });
      for await (const { text, tokens, end } of answers)
        if (end !== null)
          console.log(`${name}: ${tokens} tokens in ${end.seconds.toFixed(1)} s on ${end.backend}: ${text}`);
    }),
  );
} finally {
  store.close();
}
