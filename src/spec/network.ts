import { z } from 'zod'
import { cidr, dnsLabel, port } from './scalars.ts'

/** One network, or two: one for each address family. */
const networks = z.union(
  [cidr.transform((one) => [one]), z.array(cidr).min(1).max(2)],
  'must be a network such as 10.244.0.0/16',
)

/**
 * Settings of flannel. Windows supports only VNI 4096 and port 4789, so these are the defaults of every
 * cluster and a Windows host can join later.
 */
export const flannelSchema = z
  .strictObject({
    backend: z.enum(['vxlan', 'host-gw']).default('vxlan'),
    vni: z.int().min(1).max(16_777_215).default(4096),
    port: port.default(4789),
    mtu: z
      .int()
      .min(576)
      .max(65_535)
      .optional()
      .meta({ description: 'MTU of the pod network. Default: derived from the host interface.' }),
  })
  .meta({ id: 'Flannel', description: 'Settings of flannel.' })

export const networkSchema = z
  .strictObject({
    plugin: z
      .enum(['flannel', 'none'])
      .default('flannel')
      .meta({ description: 'none: you install the pod network.' }),
    addon: dnsLabel.optional().meta({
      description:
        'Name of your addon in `spec.addons` that installs the pod network. `up` applies it before nodes must be ready. Only with `plugin: none`.',
    }),
    policy: z.enum(['kube-router', 'none']).default('kube-router').meta({
      description:
        'Program that enforces NetworkPolicy on Linux hosts with flannel. none: NetworkPolicy objects have no effect.',
    }),
    kubeProxy: z.enum(['managed', 'none']).default('managed').meta({
      description:
        'none: no kube-proxy on any node, because your network plugin replaces it. Only with `plugin: none`.',
    }),
    pods: networks.prefault('10.244.0.0/16').meta({
      description:
        'Pod network. A list of an IPv4 and an IPv6 network makes the cluster dual-stack. The family of the first one is primary.',
    }),
    services: networks.prefault('10.96.0.0/16').meta({
      description: 'Service network. It has the same address families as `pods`, in the same order.',
    }),
    nodePrefix: z
      .int()
      .min(16)
      .max(28)
      .default(24)
      .meta({ description: 'Prefix length of the part of `pods` that one node gets.' }),
    nodePrefixIPv6: z
      .int()
      .min(48)
      .max(112)
      .default(64)
      .meta({ description: 'Prefix length of the part of the IPv6 network of `pods` that one node gets.' }),
    domain: z.string().min(1).default('cluster.local'),
    nodePorts: z
      .string()
      .regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 30000-32767')
      .default('30000-32767'),
    flannel: flannelSchema.prefault({}),
  })
  .meta({
    id: 'Network',
    description: 'Pod and Service networks, and the network plugin.',
  })
export type Network = z.infer<typeof networkSchema>

/** True if pods and services have addresses of both families. */
export function isDualStack({ pods }: Pick<Network, 'pods'>): boolean {
  return pods.length > 1
}

/** True if the primary address of nodes, pods and Services is an IPv6 address. */
export function isIpv6First({ services: [first = ''] }: Pick<Network, 'services'>): boolean {
  return first.includes(':')
}

/** Returns the network of one address family, of networks as `pods` and `services` list them. */
export function findNetwork(list: readonly string[], family: 4 | 6): string | undefined {
  return list.find((network) => network.includes(':') === (family === 6))
}

/** True if Linux hosts run kube-router. With another pod network, its own programs enforce policies. */
export function usesKubeRouter({ plugin, policy }: Pick<Network, 'plugin' | 'policy'>): boolean {
  return plugin === 'flannel' && policy === 'kube-router'
}

/** True if nodes run kube-proxy. Otherwise the network plugin of the operator serves Services. */
export function usesKubeProxy({ kubeProxy }: Pick<Network, 'kubeProxy'>): boolean {
  return kubeProxy === 'managed'
}
