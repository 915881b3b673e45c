import { describe, expect, it } from 'vitest';
import { withoutLibraryLog } from '../../../main/services/trainer-process/library-log.ts';

const LOG = [
  'WARNING: All log messages before absl::InitializeLog() is called are written to STDERR',
  'I0000 00:00:1795344463.597012   27076 port.cc:153] oneDNN custom operations are on.',
  '2026-11-22 10:15:03.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This binary is optimized',
  'To enable the following instructions: AVX2 AVX512F, in other operations, rebuild TensorFlow.',
  '============================',
  'Hi, looks like you are running TensorFlow.js in Node.js. To speed things up dramatically, install our node backend.',
  'error: XDG_RUNTIME_DIR is invalid or not set in the environment.',
  'Warning: Vulkan shaderUniform*ArrayDynamicIndexing required.',
  ' - While initializing adapter (backend=BackendType::Vulkan)',
  '    at InitializeImpl (/home/x/dawn/src/dawn/native/vulkan/PhysicalDeviceVk.cpp:257)',
  '(node:4127) ExperimentalWarning: SQLite is an experimental feature',
  '(Use `node --trace-warnings ...` to show where the warning was created)',
  '',
];

describe('withoutLibraryLog', () => {
  it('leaves nothing of what libraries log', () => {
    expect(withoutLibraryLog(LOG.join('\n'))).toBe('');
  });

  it('keeps an error with its stack, wherever it stands', () => {
    const error = [
      'Error: something broke',
      '    at run (file:///app/trainer.js:10:5)',
      'F0000 00:00:1795344463.5 1 x.cc:1] abort',
    ];
    expect(withoutLibraryLog([...LOG, ...error, ...LOG].join('\n'))).toBe(error.join('\n'));
  });
});
