import type { PlannedCertificate } from './component-plan.ts'

/** What the agent of a host keeps for itself. */
export const agentDirectory = '/etc/hyperkube/agent'

/**
 * Where the agent of a control plane finds an authority: the certificates of all that are trusted, the one that signs
 * first, and the key of that one.
 */
export function authorityFiles(name: PlannedCertificate['authority']) {
  return { certificates: `${agentDirectory}/${name}-ca.crt`, privateKey: `${agentDirectory}/${name}-ca.key` }
}
