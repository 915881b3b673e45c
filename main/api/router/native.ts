import { nativeState, startNativeSetup } from '../../services/native-setup/job.ts';
import { api, type PathAccess } from '../context.ts';

export const native = {
  state: api.native.state.handler(() => nativeState()),
  setUp: api.native.setUp.handler(({ context: { app, access }, input }) => ({
    jobId: startNativeSetup(app, {
      cpu: input.cpu,
      from: opened(access, input.from),
      package: input.package === null ? null : opened(access, input.package),
      addon: input.addon === null ? null : access.check(input.addon),
    }),
  })),
};

/** Names and URLs unchanged; a file only if this page may read it. */
function opened(access: PathAccess, from: string): string {
  return /^(auto|own|pip)$|^pip:|^https?:\/\//.test(from) ? from : access.check(from);
}
