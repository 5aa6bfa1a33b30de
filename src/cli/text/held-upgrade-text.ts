import type { Cluster } from '../../spec/cluster.ts'

type VersionSpec = Pick<Cluster['spec'], 'kubernetes' | 'heldUpgrade'>

/** Formats the Kubernetes version of a cluster, and the upgrade that is held. */
export function formatKubernetesVersion({ kubernetes, heldUpgrade }: VersionSpec): string {
  return heldUpgrade === undefined
    ? `Kubernetes ${kubernetes}`
    : `Kubernetes ${kubernetes} (upgrade to ${heldUpgrade.to} held)`
}

/** Formats since when an upgrade is held, and the two commands that end it. Empty if no upgrade is held. */
export function formatHoldCommands({ kubernetes, heldUpgrade }: VersionSpec): string {
  if (heldUpgrade === undefined) return ''
  const { to, since } = heldUpgrade
  return `the upgrade to ${to} is held since ${since.slice(0, 16).replace('T', ' ')} UTC: API servers and controllers of ${to} emulate ${kubernetes}
  → to finish it: hyperkube upgrade confirm
  → to return to ${kubernetes}: hyperkube upgrade rollback
`
}
