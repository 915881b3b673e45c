/** A run to make reports and cards of. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { makeReport, type ReportSubject } from '../../../main/services/reports/make.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

export const HOSTILE = '</script><script>document.title = "owned"</script><!-- <img src=x onerror=alert(1)>';

/** A workspace with a run of these steps, and a stand-in for the built page. */
export function place({ steps = 2, everyStep = 1, completion = (_: number): string => HOSTILE, fields = {} } = {}) {
  const root = temporaryFolder();
  const page = temporaryFolder();
  mkdirSync(join(page, 'report'));
  writeFileSync(join(page, 'report/report.js'), 'show("</script>")');
  writeFileSync(join(page, 'report/report.css'), 'p {}');
  const store = temporaryStore();
  const dataset = join(root, 'datasets/10words.jsonl');
  const { runId } = createRun(store, parseConfig({ dataset, ...fields }), { name: 'a <b> & "run"' });
  for (let step = 1; step <= steps; step++) {
    store.metrics.record(runId, step, { reward: step / steps, loss: step === 1 ? Number.NaN : 1 / 3 });
    if (step % everyStep === 0)
      store.samples.record(runId, step, [
        sampleOf({ index: 0, reward: 1, completion: `good ${step}` }),
        sampleOf({ index: 1, reward: 0, completion: completion(step) }),
      ]);
  }
  const made = {
    store,
    workspace: openWorkspace({ workspace: root }),
    paths: { ...checkoutPaths(resolve(import.meta.dirname, '../../..')), page },
  };
  const report = (subject: ReportSubject = { of: 'run', id: runId }, texts = true) =>
    makeReport(made, subject, { texts });
  return { ...made, root, runId, report };
}
