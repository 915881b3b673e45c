/** The native backend that the tests were asked to test: BRAID_TEST_NATIVE=1, or the folder of a set-up. */
import { currentLayout, type NativeLayout } from '../main/native/folder.ts';

/** Its set-up; null where none was asked for. */
export const nativeUnderTest: NativeLayout | null = layout(process.env.BRAID_TEST_NATIVE);

function layout(folder = ''): NativeLayout | null {
  return folder.trim() === '' ? null : currentLayout(folder);
}
