import { inputError } from '../../errors.ts';
import { nativeState, type SetupChoice, startNativeSetup } from '../../services/native-setup/job.ts';
import { type ApiContext, api, type PathAccess } from '../context.ts';

export const native = {
  state: api.native.state.handler(() => nativeState()),
  setUp: api.native.setUp.handler(({ context: { app, host, access }, input }) => {
    checkSource(host, input);
    return {
      jobId: startNativeSetup(app, {
        cpu: input.cpu,
        from: opened(access, input.from),
        package: input.package === null ? null : opened(access, input.package),
        addon: input.addon === null ? null : access.check(input.addon),
      }),
    };
  }),
};

/** A set-up runs what it is made from: a page that anyone with its address can open doesn't bring that. */
function checkSource({ mayLaunch }: ApiContext['host'], { from, package: tarball, addon }: SetupChoice): void {
  if (mayLaunch || (/^(auto|own|pip)$/.test(from) && tarball === null && addon === null)) return;
  throw inputError(
    'SETUP_NOT_FROM_PAGE',
    "A page in a browser can't set up the native backend from a file, a URL or another package. Nothing was changed",
    'Choose another source, use `braid setup-native` on this machine, or start `braid serve` with --allow-launchers.',
  );
}

/** Names and URLs unchanged; a file only if this page may read it. */
function opened(access: PathAccess, from: string): string {
  return /^(auto|own|pip)$|^pip:|^https?:\/\//.test(from) ? from : access.check(from);
}
