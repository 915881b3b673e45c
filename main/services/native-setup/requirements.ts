/** GPU requirements of each TensorFlow version, from TensorFlow's table of tested builds and NVIDIA's table of drivers. */

export interface CudaRequirements {
  /** For example "12.5". */
  readonly cuda: string;
  readonly cudnn: string;
  /** The oldest Linux driver that supports it, including minor-version compatibility. */
  readonly driver: string;
  /** Files that TensorFlow opens by name. */
  readonly libraries: readonly string[];
}

const CUDA_11: CudaRequirements = {
  cuda: '11.2',
  cudnn: '8.1',
  driver: '450.80.02',
  libraries: ['libcudart.so.11.0', 'libcublas.so.11', 'libcudnn.so.8'],
};

const CUDA_12: Pick<CudaRequirements, 'driver'> = { driver: '525.60.13' };
const CUDNN_8 = ['libcudart.so.12', 'libcublas.so.12', 'libcudnn.so.8'] as const;
const CUDNN_9 = ['libcudart.so.12', 'libcublas.so.12', 'libcudnn.so.9'] as const;

/** The requirements of a TensorFlow version: "2.9.1", "2.21.0". */
export function cudaRequirements(tensorflow: string): CudaRequirements {
  const [major = 0, minor = 0] = tensorflow.split('.').map(Number);
  const at = major * 100 + minor;
  if (at >= 218) return { ...CUDA_12, cuda: '12.5', cudnn: '9.3', libraries: CUDNN_9 };
  if (at >= 216) return { ...CUDA_12, cuda: '12.3', cudnn: '8.9', libraries: CUDNN_8 };
  if (at >= 215) return { ...CUDA_12, cuda: '12.2', cudnn: '8.9', libraries: CUDNN_8 };
  if (at >= 212) return { ...CUDA_11, cuda: '11.8', cudnn: '8.6', driver: '450.80.02' };
  return CUDA_11;
}

/** Whether a driver version is at least the other: "550.54.15" and "525.60.13". */
export function driverAtLeast(driver: string, least: string): boolean {
  const [have, need] = [driver, least].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (have?.[i] ?? 0) - (need?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
