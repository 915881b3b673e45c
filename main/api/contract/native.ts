/** The native backend: whether it is set up, and setting it up. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { NativeState } from '../../services/native-setup/job.ts';
import { path, procedure } from './base.ts';

export const native = {
  state: procedure.output(type<NativeState>()),
  /** Starts a job: fetches TensorFlow, builds the addon, tests it, and only then installs it. */
  setUp: procedure
    .input(
      z.object({
        /** auto, own, pip, pip:REQUIREMENT, a URL or a file. */
        from: path,
        /** Tarball of @tensorflow/tfjs-node-gpu, file or URL; null: the installed one, or npm's. */
        package: path.nullable(),
        /** A prebuilt addon; null: compile it. */
        addon: path.nullable(),
        /** Don't use the GPU. */
        cpu: z.boolean(),
      }),
    )
    .output(z.object({ jobId: z.int() })),
};
