/**
 * tfjs-core's gradients of the ops that models and losses here are made of; those of our own ops register themselves. Its
 * module of all hundred makes Node read 450 files, a third of a second in each trainer process. An op that is missing
 * here fails at once: "gradient function not found".
 */
import { registerGradient } from '@tensorflow/tfjs-core';
import { addGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Add_grad.js';
import { addNGradConfig } from '@tensorflow/tfjs-core/dist/gradients/AddN_grad.js';
import { batchMatMulGradConfig } from '@tensorflow/tfjs-core/dist/gradients/BatchMatMul_grad.js';
import { broadcastToGradConfig } from '@tensorflow/tfjs-core/dist/gradients/BroadcastTo_grad.js';
import { castGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Cast_grad.js';
import { concatGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Concat_grad.js';
import { expGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Exp_grad.js';
import { expandDimsGradConfig } from '@tensorflow/tfjs-core/dist/gradients/ExpandDims_grad.js';
import { gatherGradConfig } from '@tensorflow/tfjs-core/dist/gradients/GatherV2_grad.js';
import { identityGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Identity_grad.js';
import { logGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Log_grad.js';
import { maxGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Max_grad.js';
import { maximumGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Maximum_grad.js';
import { meanGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Mean_grad.js';
import { minimumGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Minimum_grad.js';
import { multiplyGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Multiply_grad.js';
import { negGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Neg_grad.js';
import { packGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Pack_grad.js';
import { padV2GradConfig } from '@tensorflow/tfjs-core/dist/gradients/PadV2_grad.js';
import { divGradConfig } from '@tensorflow/tfjs-core/dist/gradients/RealDiv_grad.js';
import { reshapeGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Reshape_grad.js';
import { rsqrtGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Rsqrt_grad.js';
import { selectGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Select_grad.js';
import { sigmoidGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Sigmoid_grad.js';
import { sliceGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Slice_grad.js';
import { softmaxGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Softmax_grad.js';
import { splitVGradConfig } from '@tensorflow/tfjs-core/dist/gradients/SplitV_grad.js';
import { sqrtGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Sqrt_grad.js';
import { squareGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Square_grad.js';
import { subGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Sub_grad.js';
import { sumGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Sum_grad.js';
import { tanhGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Tanh_grad.js';
import { tileGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Tile_grad.js';
import { transposeGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Transpose_grad.js';
import { unpackGradConfig } from '@tensorflow/tfjs-core/dist/gradients/Unpack_grad.js';
import { withWeightProducts } from './ops/weight-product.ts';

for (const config of [
  addGradConfig,
  addNGradConfig,
  withWeightProducts(batchMatMulGradConfig),
  broadcastToGradConfig,
  castGradConfig,
  concatGradConfig,
  expGradConfig,
  expandDimsGradConfig,
  gatherGradConfig,
  identityGradConfig,
  logGradConfig,
  maxGradConfig,
  maximumGradConfig,
  meanGradConfig,
  minimumGradConfig,
  multiplyGradConfig,
  negGradConfig,
  packGradConfig,
  padV2GradConfig,
  divGradConfig,
  reshapeGradConfig,
  rsqrtGradConfig,
  selectGradConfig,
  sigmoidGradConfig,
  sliceGradConfig,
  softmaxGradConfig,
  splitVGradConfig,
  sqrtGradConfig,
  squareGradConfig,
  subGradConfig,
  sumGradConfig,
  tanhGradConfig,
  tileGradConfig,
  transposeGradConfig,
  unpackGradConfig,
])
  registerGradient(config);
