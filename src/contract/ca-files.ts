import type { PlannedCertificate } from './component-plan.ts'

/** Directory of the agent's private files on a host. */
export const agentDirectory = '/etc/hyperkube/agent'

/**
 * Returns the paths of a CA's files on a control plane. `certificates` holds all trusted CA certificates, the
 * signing CA first; `privateKey` is the key of the signing CA.
 */
export function locateCaFiles(name: PlannedCertificate['ca']) {
  return { certificates: `${agentDirectory}/${name}-ca.crt`, privateKey: `${agentDirectory}/${name}-ca.key` }
}
