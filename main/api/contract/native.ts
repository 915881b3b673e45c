/** The native backend: whether it is set up, and setting it up. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { NativeState } from '../../services/native-setup/job.ts';
import { path, procedure } from './base.ts';

export const native = {
  state: procedure.output(type<NativeState>()),
  /** Begins a job: fetches TensorFlow, builds the addon, tries it, and only then puts it in place. */
  setUp: procedure
    .input(
      z.object({
        /** auto, own, pip, pip:REQUIREMENT, a URL or a file. */
        from: path,
        /** Tarball of @tensorflow/tfjs-node-gpu, file or URL; null: the installed one, or npm's. */
        package: path.nullable(),
        /** An addon that is built already; null: compile it. */
        addon: path.nullable(),
        /** Leave the GPU out. */
        cpu: z.boolean(),
      }),
    )
    .output(z.object({ jobId: z.int() })),
};
