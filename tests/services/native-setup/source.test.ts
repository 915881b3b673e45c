import { describe, expect, it } from 'vitest';
import type { GpuFacts } from '../../../main/services/native-setup/machine.ts';
import { cudaWheels } from '../../../main/services/native-setup/pip.ts';
import { archiveKind, tensorflowSource } from '../../../main/services/native-setup/source.ts';

const none: GpuFacts = { gpus: [], devices: 0, driver: null, libraries: new Map() };
const good: GpuFacts = {
  ...none,
  gpus: [{ name: 'NVIDIA A10', totalBytes: 23028 * 2 ** 20, freeBytes: null }],
  devices: 1,
  driver: '550.54.15',
};
const old: GpuFacts = { ...good, driver: '470.199.02' };

describe('tensorflowSource', () => {
  it('takes the GPU build only where GPU and driver can use it', () => {
    const requirement = (facts: GpuFacts, cpu = false) => tensorflowSource('auto', facts, cpu);
    expect(requirement(none)).toEqual({ kind: 'pip', requirement: 'tensorflow-cpu==2.21.0' });
    expect(requirement(good)).toEqual({ kind: 'pip', requirement: 'tensorflow==2.21.0' });
    expect(requirement(old)).toEqual({ kind: 'pip', requirement: 'tensorflow-cpu==2.21.0' });
    expect(requirement(good, true)).toEqual({ kind: 'pip', requirement: 'tensorflow-cpu==2.21.0' });
  });

  it("takes the package's own library for an older driver", () => {
    expect(tensorflowSource('own', old, false)).toMatchObject({
      url: expect.stringMatching(/-gpu-linux-x86_64-2\.9\.1/),
    });
    expect(tensorflowSource('own', none, false)).toMatchObject({
      url: expect.stringMatching(/-cpu-linux-x86_64-2\.9\.1/),
    });
  });

  it('takes URLs, requirements and files, and rejects a file that is not there', () => {
    expect(tensorflowSource('https://example.org/t.whl', none, false)).toEqual({
      kind: 'url',
      url: 'https://example.org/t.whl',
    });
    expect(tensorflowSource('pip:tensorflow-cpu==2.19.0', none, false)).toEqual({
      kind: 'pip',
      requirement: 'tensorflow-cpu==2.19.0',
    });
    expect(tensorflowSource(import.meta.filename, none, false)).toEqual({ kind: 'file', path: import.meta.filename });
    expect(() => tensorflowSource('no-such.whl', none, false)).toThrow(
      /got "no-such\.whl", which isn't an existing file/,
    );
  });
});

describe('archiveKind', () => {
  it('knows wheels and C libraries by their names', () => {
    expect(archiveKind('x/tensorflow-2.21.0-cp311.whl')).toBe('wheel');
    expect(archiveKind('libtensorflow.tar.gz')).toBe('tarball');
    expect(() => archiveKind('tensorflow.zip')).toThrow(/Expected a TensorFlow wheel .* got tensorflow\.zip/);
  });
});

describe('cudaWheels', () => {
  it('finds what the extra "and-cuda" asks for', () => {
    const metadata = [
      'Requires-Dist: numpy>=1.26.0',
      'Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"',
      "Requires-Dist: nvidia-cublas-cu12 (>=12.5.3.2) ; extra == 'and-cuda'",
    ].join('\n');
    expect(cudaWheels(metadata)).toEqual(['nvidia-cudnn-cu12<10.0,>=9.3.0.75', 'nvidia-cublas-cu12>=12.5.3.2']);
  });
});
