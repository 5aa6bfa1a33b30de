import { z } from 'zod'
import { hostComponentsSchema } from './components.ts'
import {
  absolutePath,
  address,
  fileMode,
  dnsLabel,
  ipAddress,
  labels,
  nodeName,
  port,
  taint,
} from './scalars.ts'

export const hostRole = z.enum(['control-plane', 'etcd', 'worker']).meta({
  id: 'Role',
  description: 'control-plane brings etcd along unless some host has the role etcd alone.',
})
export type HostRole = z.infer<typeof hostRole>

/**
 * SSH settings of a host or of the whole cluster. Fields that a host omits are taken from the cluster's
 * `ssh`.
 */
export const sshSchema = z
  .strictObject({
    user: z.string().min(1),
    port,
    key: z.string().min(1).meta({ description: 'Path of a private key; without it the ssh agent is asked.' }),
    bastion: z
      .strictObject({
        address,
        user: z.string().min(1).optional(),
        port: port.optional(),
        key: z.string().optional(),
      })
      .meta({ description: 'A host to go through.' }),
    client: z.enum(['builtin', 'system']).meta({
      description: 'system: the ssh program, for hardware keys and ProxyCommand; default: builtin.',
    }),
  })
  .partial()
  .meta({ id: 'Ssh', description: 'How to reach a host by ssh.' })

const extraFile = z
  .strictObject({
    path: absolutePath,
    content: z.string().optional(),
    source: z.string().optional().meta({ description: 'A file beside cluster.yml.' }),
    mode: fileMode.default('0644'),
  })
  .refine(
    ({ content, source }) => (content === undefined) !== (source === undefined),
    'needs either content or source',
  )
  .meta({ id: 'ExtraFile', description: 'A file of your own that is kept on the host.' })

export const hostSchema = z
  .strictObject({
    name: dnsLabel.meta({ description: 'What hyperkube calls the host.' }),
    address: address.meta({ description: 'Where ssh finds it.' }),
    internalAddress: ipAddress
      .optional()
      .meta({ description: 'Where the other hosts find it, if elsewhere.' }),
    interface: z.string().optional().meta({ description: 'Or: the interface whose address that is.' }),
    nodeName: nodeName.optional().meta({ description: 'Its name in Kubernetes; default: name.' }),
    os: z.enum(['linux', 'windows']).default('linux'),
    local: z.boolean().default(false).meta({ description: 'This machine itself, without ssh.' }),
    roles: z.array(hostRole).min(1, 'needs at least one role'),
    ssh: sshSchema.optional(),
    labels: labels.default({}),
    taints: z.array(taint).optional(),
    components: hostComponentsSchema.optional(),
    files: z.array(extraFile).default([]),
  })
  .meta({ id: 'Host', description: 'One machine.' })
export type HostSpec = z.infer<typeof hostSchema>
