import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PACKAGE_VERSION } from '../../../main/services/native-setup/package.ts';

describe('@tensorflow/tfjs-node-gpu', () => {
  it('is an optional peer of the version that the set-up takes, and nothing that npm ci installs', () => {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const { peerDependencies, peerDependenciesMeta } = read('package.json');
    expect(peerDependencies).toEqual({ '@tensorflow/tfjs-node-gpu': PACKAGE_VERSION });
    expect(peerDependenciesMeta).toEqual({ '@tensorflow/tfjs-node-gpu': { optional: true } });
    const { packages } = read('package-lock.json');
    expect(packages[''].peerDependencies).toEqual(peerDependencies);
    expect(packages['node_modules/@tensorflow/tfjs-node-gpu']).toBeUndefined();
  });
});
