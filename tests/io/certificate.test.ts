import { afterEach, expect, it, vi } from 'vitest';
import { certificateFault } from '../../main/io/certificate.ts';
import { hubError } from '../../main/services/models/hub-errors.ts';
import { openHttp } from '../../main/trainer/tinker/http.ts';

const refused = (code: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code }) });

afterEach(() => vi.unstubAllGlobals());

it.each([
  ['CERT_HAS_EXPIRED', /clock/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /address/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /NODE_EXTRA_CA_CERTS/],
])('says what to do about %s', (code, remedy) => {
  expect(certificateFault(refused(code))).toMatchObject({
    why: expect.stringContaining(code),
    remedy: expect.stringMatching(remedy),
  });
});

it('is also what a request throws without fetch', () => {
  const error = Object.assign(new Error('refused'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(certificateFault(error)).toMatchObject({ why: expect.stringContaining('DEPTH_ZERO') });
});

it('is no other fault', () => {
  for (const error of [refused('ECONNRESET'), new TypeError('terminated'), null])
    expect(certificateFault(error)).toBeNull();
});

it('ends a request to an engine at once, also one that is posted once', async () => {
  const asked = vi.fn(() => Promise.reject(refused('CERT_HAS_EXPIRED')));
  vi.stubGlobal('fetch', asked);
  const http = openHttp({
    name: 'far',
    url: 'https://here',
    key: null,
    baseModel: 'x/y',
    allowPlain: false,
    prices: null,
  });
  await expect(http.get('healthz')).rejects.toMatchObject({ code: 'ENGINE_CERTIFICATE' });
  await expect(http.post('optim_step', {})).rejects.toMatchObject({ code: 'ENGINE_CERTIFICATE' });
  expect(asked).toHaveBeenCalledTimes(2);
});

it('is not a missing network for the Hub', () => {
  const error = hubError(refused('SELF_SIGNED_CERT_IN_CHAIN'), { repo: 'a/b', revision: 'main' });
  expect(error).toMatchObject({ code: 'HUB_CERTIFICATE', remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
});
