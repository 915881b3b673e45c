/** Chromium's software driver for Vulkan, with which the GPU backend can be tested on any machine. */
import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { BraidError } from '../main/errors.ts';

/** Where Debian's Chromium, Fedora's and Google's Chrome keep their files. */
const FOLDERS = ['/usr/lib/chromium', '/usr/lib64/chromium-browser', '/opt/google/chrome'];

/** Compiling for a processor takes seconds a kernel, and minutes where others are at work. */
const SLOW_MS = 300_000;

/** Says that a suite runs without a GPU; one that BRAID_TEST_GPU asks for and that doesn't open is a failure. */
export function skipWithoutGpu(error: unknown): void {
  if (process.env.BRAID_TEST_GPU !== undefined) throw error;
  console.warn(`webgpu is skipped: ${error instanceof Error ? error.message : error}`);
}

/**
 * Makes this process, and those that it starts, use it. The machine's own GPU is tested where BRAID_TEST_GPU=real asks
 * for it; throws where there is neither.
 */
export function chooseTestGpu(): void {
  vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });
  if (process.env.BRAID_TEST_GPU === 'real') return;
  const { CHROMIUM_PATH: chromium = '' } = process.env;
  const own = existsSync(chromium) ? [dirname(realpathSync(chromium))] : [];
  const driver = [...own, ...FOLDERS].map((folder) => join(folder, 'vk_swiftshader_icd.json')).find(existsSync);
  if (driver === undefined)
    throw new BraidError('NO_GPU', 'no software driver; install Chromium and libvulkan1, or set BRAID_TEST_GPU=real');
  process.env.VK_DRIVER_FILES = driver;
  process.env.VK_ICD_FILENAMES = driver;
  process.env.XDG_RUNTIME_DIR ??= tmpdir();
}
