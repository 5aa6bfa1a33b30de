import { clusterApiVersion } from '../cluster.ts'
import { newestKubernetes, nodeName } from '../scalars.ts'
import { rke1Defaults, type Rke1Facts, textAt, valueAt } from './facts.ts'
import type { Assignment } from './rule.ts'

/**
 * Returns the assignments that are made before any key is read. They set the order of keys in the result and
 * the defaults of RKE1.
 */
export function defaultAssignments(facts: Rke1Facts): readonly Assignment[] {
  return [
    { path: ['apiVersion'], value: clusterApiVersion },
    { path: ['kind'], value: 'Cluster' },
    { path: ['metadata', 'name'], value: rke1Defaults.name },
    { path: ['spec', 'kubernetes'], value: newestKubernetes },
    ...facts.hosts.flatMap((_, index) => hostDefaults(facts, index)),
    { path: ['spec', 'ssh', 'key'], value: sshKey(facts) },
    ...networkDefaults(facts),
    ...['api', 'components'].map((section) => ({ path: ['spec', section], value: undefined })),
    { path: ['spec', 'security', 'podSecurity'], value: rke1Defaults.podSecurity },
    ...['dns', 'metrics', 'ingress'].map((section) => ({ path: ['spec', section], value: undefined })),
    // RKE1 installed no storage class. If the cluster has its own default class by now, hyperkube must not
    // add a second one.
    { path: ['spec', 'storage'], value: 'none' },
    ...registryDefaults(facts),
  ]
}

function hostDefaults({ hosts, root }: Rke1Facts, index: number): Assignment[] {
  const { name, windows } = hosts[index] ?? { name: undefined, windows: false }
  const fields = {
    name,
    address: undefined,
    internalAddress: undefined,
    nodeName: readNodeName(root, index),
    os: windows ? 'windows' : undefined,
    roles: undefined,
    ssh: undefined,
    labels: undefined,
    taints: undefined,
  }
  return Object.entries(fields).map(([field, value]) => ({ path: ['spec', 'hosts', index, field], value }))
}

/**
 * Returns the node name of a host without hostname_override: RKE1 uses the address of such a host as its node
 * name.
 */
function readNodeName(root: unknown, index: number): string | undefined {
  if (textAt(root, ['nodes', index, 'hostname_override']) !== undefined) return undefined
  return nodeName.safeParse(textAt(root, ['nodes', index, 'address'])?.toLowerCase()).data
}

function sshKey({ root }: Rke1Facts): string | undefined {
  return valueAt(root, ['ssh_agent_auth']) === true ? undefined : rke1Defaults.sshKey
}

function networkDefaults({ plugin, windows }: Rke1Facts): Assignment[] {
  const overlay = plugin === 'canal' || plugin === 'flannel'
  const vxlan = windows ? { vni: 4096, port: 4789 } : { vni: rke1Defaults.vni, port: rke1Defaults.port }
  return [
    { path: ['spec', 'network', 'plugin'], value: plugin === 'none' ? 'none' : 'flannel' },
    { path: ['spec', 'network', 'pods'], value: rke1Defaults.pods },
    { path: ['spec', 'network', 'services'], value: rke1Defaults.services },
    ...(overlay
      ? Object.entries(vxlan).map(([field, value]) => ({
          path: ['spec', 'network', 'flannel', field],
          value,
        }))
      : []),
  ]
}

/**
 * Sets docker.io as the default host of each registry, because RKE1 treats a registry without a URL as Docker
 * Hub.
 */
function registryDefaults({ root }: Rke1Facts): Assignment[] {
  const registries = valueAt(root, ['private_registries'])
  if (!Array.isArray(registries)) return []
  return registries.map((_, index) => ({
    path: ['spec', 'registries', index, 'host'],
    value: 'docker.io',
  }))
}
