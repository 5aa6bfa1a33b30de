import { apiVersion } from '../cluster.ts'
import { nodeName } from '../scalars.ts'
import { newestKubernetes } from '../versions.ts'
import { type Facts, rke1, textAt, valueAt } from './facts.ts'
import type { Put } from './rule.ts'

/** What the result has before a single key is read: the order of its keys, and what RKE1 does when not told. */
export function defaults(facts: Facts): readonly Put[] {
  return [
    { path: ['apiVersion'], value: apiVersion },
    { path: ['kind'], value: 'Cluster' },
    { path: ['metadata', 'name'], value: rke1.name },
    { path: ['spec', 'kubernetes'], value: newestKubernetes },
    ...facts.hosts.flatMap((_, index) => hostDefaults(facts, index)),
    { path: ['spec', 'ssh', 'key'], value: sshKey(facts) },
    ...networkDefaults(facts),
    ...['api', 'components'].map((section) => ({ path: ['spec', section], value: undefined })),
    { path: ['spec', 'security', 'podSecurity'], value: rke1.podSecurity },
    ...['dns', 'metrics', 'ingress'].map((section) => ({ path: ['spec', section], value: undefined })),
    // RKE1 came without any, and there must not be a second default class beside what a cluster has by now.
    { path: ['spec', 'storage'], value: 'none' },
    ...registryDefaults(facts),
  ]
}

function hostDefaults({ hosts, root }: Facts, index: number): Put[] {
  const { name, windows } = hosts[index] ?? { name: undefined, windows: false }
  const fields = {
    name,
    address: undefined,
    internalAddress: undefined,
    nodeName: nodeNameOf(root, index),
    os: windows ? 'windows' : undefined,
    roles: undefined,
    ssh: undefined,
    labels: undefined,
    taints: undefined,
  }
  return Object.entries(fields).map(([field, value]) => ({ path: ['spec', 'hosts', index, field], value }))
}

/** Where RKE1 is not told a name for a node, the node is called by its address. */
function nodeNameOf(root: unknown, index: number): string | undefined {
  if (textAt(root, ['nodes', index, 'hostname_override']) !== undefined) return undefined
  return nodeName.safeParse(textAt(root, ['nodes', index, 'address'])?.toLowerCase()).data
}

function sshKey({ root }: Facts): string | undefined {
  return valueAt(root, ['ssh_agent_auth']) === true ? undefined : rke1.sshKey
}

function networkDefaults({ plugin, windows }: Facts): Put[] {
  const overlay = plugin === 'canal' || plugin === 'flannel'
  const vxlan = windows ? { vni: 4096, port: 4789 } : { vni: rke1.vni, port: rke1.port }
  return [
    { path: ['spec', 'network', 'plugin'], value: plugin === 'none' ? 'none' : 'flannel' },
    { path: ['spec', 'network', 'pods'], value: rke1.pods },
    { path: ['spec', 'network', 'services'], value: rke1.services },
    ...(overlay
      ? Object.entries(vxlan).map(([field, value]) => ({
          path: ['spec', 'network', 'flannel', field],
          value,
        }))
      : []),
  ]
}

/** A registry without an address is Docker's. */
function registryDefaults({ root }: Facts): Put[] {
  const registries = valueAt(root, ['private_registries'])
  if (!Array.isArray(registries)) return []
  return registries.map((_, index) => ({
    path: ['spec', 'registries', index, 'host'],
    value: 'docker.io',
  }))
}
