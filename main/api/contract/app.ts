/** The app itself: version, state, changes. */
import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { AppStatus } from '../../services/app/status.ts';
import type { Check, Examined } from '../../services/doctor/doctor.ts';
import type { KeptGpuReport } from '../../services/doctor/gpu-report.ts';
import type { Change } from '../../services/workspace/changes.ts';
import type { PageRequest } from '../page-requests.ts';
import { id, procedure } from './base.ts';

export interface AppInfo {
  readonly version: string;
  readonly host: 'electron' | 'serve';
  readonly workspace: string;
  /** Whether `chooseFolder` and `chooseFiles` can open a dialog; otherwise paths are typed. */
  readonly dialogs: boolean;
}

export const app = {
  info: procedure.output(type<AppInfo>()),
  status: procedure.output(type<AppStatus>()),
  /** Batches of changes, from now on. A reader that reconnects refetches everything it shows. */
  changes: procedure.output(eventIterator(type<readonly Change[]>())),
  /** Requests from the desktop's menus and opened files to the page, one at a time; ends at once in a browser. */
  requests: procedure.output(eventIterator(type<PageRequest>())),
  /** Checks this machine; takes about a second of processor time. */
  doctor: procedure.output(type<readonly Check[]>()),
  /** The doctor's recent report; null: it has to run. */
  examined: procedure.output(type<Examined | null>()),
  /** Tests and times the GPU as a job of some minutes. */
  startGpuReport: procedure.output(z.object({ jobId: z.number() })),
  /** The newest report, as Markdown; null: none was made in this workspace. */
  gpuReport: procedure.output(type<KeptGpuReport | null>()),
  dismissNotice: procedure.input(z.object({ id })),
  cancelJob: procedure.input(z.object({ id })).output(z.object({ cancelled: z.boolean() })),
  /** A folder that the user chose in the host's dialog; null: none. Its files may then be read. */
  chooseFolder: procedure.input(z.object({ title: z.string().max(200) })).output(z.string().nullable()),
  chooseFiles: procedure.input(z.object({ title: z.string().max(200) })).output(z.array(z.string())),
  /** Asks for another workspace and restarts with it; desktop only. */
  openWorkspace: procedure,
  /** Shows a path of the workspace in the system's file manager. */
  reveal: procedure.input(z.object({ path: z.string().max(4096) })),
};
