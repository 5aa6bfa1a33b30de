import type { PlannedCertificate } from './component-plan.ts'

/**
 * Signer name of the certificate signing requests with which a host renews its certificates. Control planes
 * sign these requests.
 */
export const renewalSigner = 'hyperkube.dev/renewal'

/** Annotations of a renewal request. */
export const renewalAnnotations = {
  /** The certificate to replace, as PEM. */
  previous: 'hyperkube.dev/previous-certificate',
  /**
   * Base64 signature made with the key of the previous certificate. It proves that the requester has this
   * key.
   */
  proof: 'hyperkube.dev/proof',
} as const

/** Kubernetes user of the agents on control planes when they sign renewals. */
export const agentUser = 'hyperkube:agent'

/** Directory of the agent's private files on a host. */
export const agentDirectory = '/etc/hyperkube/agent'

/**
 * Returns the paths of a CA's files on a control plane. `certificates` holds all trusted CA certificates, the
 * signing CA first; `privateKey` is the key of the signing CA.
 */
export function locateCaFiles(name: PlannedCertificate['ca']) {
  return { certificates: `${agentDirectory}/${name}-ca.crt`, privateKey: `${agentDirectory}/${name}-ca.key` }
}
