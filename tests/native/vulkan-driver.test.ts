import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LibrarySystem, packageOf, vulkanProblem } from '../../main/native/vulkan-driver.ts';
import { noAdapter } from '../../main/tensor/webgpu/faults.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const DRIVER = 'libGLX_nvidia.so.0';
const GLVND = ['libEGL.so.1', 'libGLdispatch.so.0', 'libOpenGL.so.0', 'libGL.so.1', 'libGLX.so.0', 'libGLESv2.so.2'];

/** A system with the loader and one driver, less what is missing. */
function system({
  has = ['libvulkan.so.1', DRIVER, ...GLVND],
  needs = [] as string[],
  library = DRIVER as unknown,
} = {}) {
  const manifest = join(temporaryFolder(), 'nvidia_icd.json');
  writeFileSync(manifest, JSON.stringify({ ICD: { library_path: library } }));
  const libraries: LibrarySystem = {
    manifests: () => [manifest],
    find: (name) => (has.includes(name) ? `/lib/${name}` : null),
    missing: () => needs,
  };
  return { manifest, libraries };
}

describe('vulkanProblem', () => {
  it('is null where nothing is missing, or nothing is known', () => {
    expect(vulkanProblem(system().libraries)).toBeNull();
    expect(vulkanProblem(system({ library: 7 }).libraries)).toBeNull();
  });

  it('names the loader, and that there is no driver', () => {
    expect(vulkanProblem(system({ has: [] }).libraries)).toMatchObject({
      kind: 'loader',
      remedy: 'Install libvulkan1.',
    });
    const none = { ...system().libraries, manifests: () => [] };
    expect(vulkanProblem(none)).toMatchObject({
      kind: 'driver',
      remedy: expect.stringContaining('mesa-vulkan-drivers'),
    });
  });

  it("names the driver's own library, by name or by path", () => {
    for (const library of [DRIVER, `./${DRIVER}`, `/nowhere/${DRIVER}`]) {
      const { manifest, libraries } = system({ has: ['libvulkan.so.1'], library });
      expect(vulkanProblem(libraries)).toEqual({
        kind: 'library',
        what: `${DRIVER} can't be found, which the Vulkan driver of ${manifest} names`,
        remedy: "Install libnvidia-gl-VERSION of NVIDIA's driver (as Debian and Ubuntu call it).",
      });
    }
  });

  it('names what the driver needs, with the packages', () => {
    const { manifest, libraries } = system({ needs: ['libX11.so.6', 'libXext.so.6'] });
    const problem = vulkanProblem(libraries);
    expect(problem?.what).toBe(
      `libX11.so.6, libXext.so.6 can't be found, which ${DRIVER} needs, the Vulkan driver of ${manifest}`,
    );
    const error = noAdapter('no adapter was found', problem);
    expect(error.message).toBe(`No GPU was found: no adapter was found; ${problem?.what}`);
    expect(error.remedy).toBe('Install libx11-6 libxext6 (as Debian and Ubuntu call it). Or use the wasm backend.');
  });

  it("names the loaders that NVIDIA's driver opens while it runs, which no list of its libraries has", () => {
    const { libraries } = system({ has: ['libvulkan.so.1', DRIVER, 'libGL.so.1'] });
    expect(vulkanProblem(libraries)).toMatchObject({
      kind: 'library',
      what: expect.stringContaining('libEGL.so.1, libGLdispatch.so.0, libOpenGL.so.0, libGLX.so.0, libGLESv2.so.2'),
      remedy: 'Install libegl1 libglvnd0 libopengl0 libglx0 libgles2 (as Debian and Ubuntu call it).',
    });
    const other = system({ has: ['libvulkan.so.1', 'libvulkan_radeon.so'], library: 'libvulkan_radeon.so' });
    expect(vulkanProblem(other.libraries)).toBeNull();
  });

  it('asks the real system without failing', () => {
    expect(() => vulkanProblem()).not.toThrow();
  });
});

describe('packageOf', () => {
  it.each([
    ['libX11.so.6', 'libx11-6'],
    ['libXext.so.6', 'libxext6'],
    ['libxcb-dri3.so.0', 'libxcb-dri3-0'],
    ['libwayland-client.so.0', 'libwayland-client0'],
    ['libz.so.1', 'zlib1g'],
    ['libvulkan_radeon.so', 'mesa-vulkan-drivers'],
    ['libstdc++.so.6', 'libstdc++6'],
    ['odd', 'odd'],
  ])('%s is in %s', (library, expected) => expect(packageOf(library)).toBe(expected));
});
