import type { PlannedCertificate } from './component-plan.ts'

/** Private files of the agent on a host. */
export const agentDirectory = '/etc/hyperkube/agent'

/**
 * Paths of a CA on a control plane: certificates of all trusted CAs with the signing one first, and the key
 * of the signing one.
 */
export function locateCaFiles(name: PlannedCertificate['ca']) {
  return { certificates: `${agentDirectory}/${name}-ca.crt`, privateKey: `${agentDirectory}/${name}-ca.key` }
}
