/** Why a server's certificate was refused, in words: the codes that Node takes from OpenSSL. */

export interface CertificateFault {
  /** `is for another address (ERR_TLS_CERT_ALTNAME_INVALID)`. */
  readonly why: string;
  readonly remedy: string;
}

const FAULTS: readonly (readonly [codes: RegExp, why: string, remedy: string])[] = [
  [/EXPIRED|NOT_YET_VALID/, "isn't valid now", 'Renew it there, and check the clock of this machine.'],
  [/ALTNAME|HOSTNAME_MISMATCH/, 'is for another address', 'Use the address that the certificate names.'],
  [
    /CERT|ISSUER|LEAF_SIGNATURE/,
    "isn't trusted here",
    "If it is your own server's or your network's, start Braid with NODE_USE_SYSTEM_CA=1 where this machine trusts it, or with NODE_EXTRA_CA_CERTS=FILE: a PEM file of who signed it.",
  ],
];

/** The fault; null: a request failed for another reason. Of what a request threw, or fetch with that as its cause. */
export function certificateFault(error: unknown): CertificateFault | null {
  const cause = error instanceof Error ? (error.cause ?? error) : null;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const [, why, remedy] = FAULTS.find(([codes]) => codes.test(code)) ?? [];
  return why === undefined || remedy === undefined ? null : { why: `${why} (${code})`, remedy };
}
