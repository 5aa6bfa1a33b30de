/**
 * Signer name of certificate signing requests by which a host replaces a certificate; control planes sign
 * them.
 */
export const renewalSigner = 'hyperkube.dev/renewal'

/** Annotations of such a request. */
export const renewalAnnotations = {
  /** The certificate to replace, as PEM. */
  previous: 'hyperkube.dev/previous-certificate',
  /** Base64 signature that proves possession of the key of that certificate. */
  proof: 'hyperkube.dev/proof',
} as const

/** User as which the agents of control planes sign. */
export const agentUser = 'hyperkube:agent'
