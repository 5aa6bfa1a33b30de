/** Under this name a host asks the API for a new certificate in the place of one that it has, and control planes answer. */
export const renewalSigner = 'hyperkube.dev/renewal'

/** What such a request has beside it. */
export const renewalAnnotations = {
  /** The certificate that is to be replaced, as PEM. */
  former: 'hyperkube.dev/former-certificate',
  /** A signature, in base64, that only whoever holds the key of that certificate can make. */
  proof: 'hyperkube.dev/proof',
} as const

/** As whom the agents of control planes answer. */
export const agentUser = 'hyperkube:agent'
