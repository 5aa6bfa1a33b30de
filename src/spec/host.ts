import { z } from 'zod'
import { hostComponents } from './components.ts'
import {
  absolutePath,
  address,
  byteMode,
  dnsLabel,
  ipAddress,
  labels,
  nodeName,
  port,
  taint,
} from './scalars.ts'

export const role = z.enum(['control-plane', 'etcd', 'worker']).meta({
  id: 'Role',
  description: 'control-plane brings etcd along unless some host has the role etcd alone.',
})
export type Role = z.infer<typeof role>

/** How to reach a host; every field that a host leaves out comes from the cluster's own `ssh`. */
export const ssh = z
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
    mode: byteMode.default('0644'),
  })
  .refine(
    ({ content, source }) => (content === undefined) !== (source === undefined),
    'needs either content or source',
  )
  .meta({ id: 'ExtraFile', description: 'A file of your own that is kept on the host.' })

export const host = z
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
    roles: z.array(role).min(1, 'needs at least one role'),
    ssh: ssh.optional(),
    labels: labels.default({}),
    taints: z.array(taint).optional(),
    components: hostComponents.optional(),
    files: z.array(extraFile).default([]),
  })
  .meta({ id: 'Host', description: 'One machine.' })
export type Host = z.infer<typeof host>
