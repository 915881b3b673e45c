import { inputError } from '../../errors.ts';
import { appStatus } from '../../services/app/status.ts';
import { cachedReport, cacheReport, examine } from '../../services/doctor/doctor.ts';
import { newestGpuReport, startGpuReport } from '../../services/doctor/gpu-report.ts';
import { api } from '../context.ts';
import { noRequests } from '../page-requests.ts';

/** Changes reach the page at most this often. */
const EVERY_MS = 150;

export const app = {
  info: api.app.info.handler(({ context: { app, host } }) => ({
    version: host.version,
    host: host.kind,
    workspace: app.workspace.root,
    dialogs: host.dialogs !== null,
  })),
  status: api.app.status.handler(({ context }) => appStatus(context.app)),
  changes: api.app.changes.handler(({ context, signal }) => context.app.changes.batches(EVERY_MS, signal)),
  requests: api.app.requests.handler(({ context: { host }, signal }) => host.requests?.follow(signal) ?? noRequests()),
  doctor: api.app.doctor.handler(async ({ context: { app, host }, signal }) => {
    const { paths, workspace, records } = app;
    const checks = await examine({ paths, workspace, records, ...(signal && { signal }) });
    cacheReport(app.store, { checks, at: Date.now() }, host.version);
    return checks;
  }),
  examined: api.app.examined.handler(({ context: { app, host } }) => cachedReport(app.store, host.version)),
  startGpuReport: api.app.startGpuReport.handler(({ context: { app } }) => ({ jobId: startGpuReport(app) })),
  gpuReport: api.app.gpuReport.handler(({ context: { app } }) => newestGpuReport(app)),
  dismissNotice: api.app.dismissNotice.handler(({ context, input }) => context.app.notices.dismiss(input.id)),
  cancelJob: api.app.cancelJob.handler(({ context, input }) => ({ cancelled: context.app.jobs.cancel(input.id) })),
  chooseFolder: api.app.chooseFolder.handler(async ({ context: { host, access }, input }) => {
    const folder = (await host.dialogs?.chooseFolder(input.title)) ?? null;
    if (folder !== null) access.allow(folder);
    return folder;
  }),
  chooseFiles: api.app.chooseFiles.handler(async ({ context: { host, access }, input }) => {
    const files = (await host.dialogs?.chooseFiles(input.title)) ?? [];
    for (const file of files) access.allow(file);
    return files;
  }),
  openWorkspace: api.app.openWorkspace.handler(({ context: { host } }) => {
    if (host.openWorkspace === undefined)
      throw inputError(
        'NO_DESKTOP',
        'Expected a desktop to open a folder dialog, got none',
        'Start braid serve with --workspace FOLDER.',
      );
    host.openWorkspace();
  }),
  reveal: api.app.reveal.handler(({ context: { host, access }, input }) => {
    const path = access.check(input.path);
    if (host.dialogs === null) throw inputError('NO_DESKTOP', `Expected a desktop to show ${path}, got none`);
    host.dialogs.reveal(path);
  }),
};
