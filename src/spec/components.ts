import { z } from 'zod'
import { extraArgs, quantity } from './scalars.ts'

/**
 * A part of a component's own configuration file. It is merged over the configuration that hyperkube writes.
 */
const configuration = z
  .record(z.string(), z.json())
  .meta({ description: 'Merged over the configuration file that hyperkube writes.' })

const withArgs = z.strictObject({ args: extraArgs.default({}) })
const withConfig = withArgs.extend({ config: configuration.default({}) })

export const resourcesSchema = z
  .strictObject({ cpu: quantity, memory: quantity, 'ephemeral-storage': quantity })
  .partial()
  .meta({ id: 'Resources', description: 'Amounts of host resources.' })

export const componentsSchema = z
  .strictObject({
    etcd: withArgs.prefault({}),
    apiServer: withArgs.prefault({}),
    controllerManager: withArgs.prefault({}),
    scheduler: withArgs.prefault({}),
    kubelet: withConfig
      .extend({
        maxPods: z.int().min(1).max(1000).default(110),
        systemReserved: resourcesSchema.default({}),
        kubeReserved: resourcesSchema.default({}),
      })
      .prefault({}),
    kubeProxy: withConfig
      .extend({ mode: z.enum(['auto', 'nftables', 'iptables']).default('auto') })
      .prefault({}),
    containerd: z
      .strictObject({
        config: z
          .string()
          .default('')
          .meta({ description: 'TOML that is imported after the configuration of hyperkube.' }),
      })
      .prefault({}),
    flanneld: withArgs.prefault({}),
    kubeRouter: withArgs.prefault({}),
  })
  .meta({ id: 'Components', description: 'Settings of the Kubernetes components.' })
export type Components = z.infer<typeof componentsSchema>

/**
 * Settings of a single host, which override the cluster's settings. They exist only for components that run
 * on every node.
 */
export const hostComponentsSchema = z
  .strictObject({
    kubelet: z
      .strictObject({
        args: extraArgs,
        config: configuration,
        maxPods: z.int().min(1).max(1000),
        systemReserved: resourcesSchema,
      })
      .partial(),
    kubeProxy: z.strictObject({ args: extraArgs, config: configuration }).partial(),
  })
  .partial()
  .meta({
    id: 'HostComponents',
    description: 'Component settings of this host. They override those of the cluster.',
  })
