import { z } from 'zod'
import { normalizePublicKey } from '../kit/ssh-public-key.ts'
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
  description: 'A control-plane host also runs etcd, unless a host has the role etcd without control-plane.',
})
export type HostRole = z.infer<typeof hostRole>

/** The ssh host key of a machine: a fingerprint, or a line of an OpenSSH public key file. */
const sshHostKey = z
  .string()
  .regex(
    /^(?:SHA256:[A-Za-z0-9+/]{43}|[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: .*)?)$/,
    'must be a fingerprint such as SHA256:… or an OpenSSH public key such as ssh-ed25519 AAAA…',
  )
  .refine(
    (text) => text.startsWith('SHA256:') || normalizePublicKey(text) !== undefined,
    'must be an OpenSSH public key: type and base64 text do not belong together',
  )

/**
 * SSH settings of a host or of the whole cluster. Fields that a host omits are taken from the cluster's
 * `ssh`.
 */
export const sshSchema = z
  .strictObject({
    user: z.string().min(1),
    port,
    key: z.string().min(1).meta({ description: 'Path of a private key. Default: keys of the ssh agent.' }),
    bastion: z
      .strictObject({
        address,
        user: z.string().min(1).optional(),
        port: port.optional(),
        key: z.string().optional(),
        hostKey: sshHostKey.optional().meta({ description: 'SSH host key of the jump host.' }),
      })
      .meta({ description: 'Jump host.' }),
    client: z.enum(['builtin', 'system']).meta({
      description: 'system: use the ssh command, for hardware keys and ProxyCommand. Default: builtin.',
    }),
  })
  .partial()
  .meta({ id: 'Ssh', description: 'SSH connection settings of all hosts.' })

/** SSH settings of one host. A host key belongs to one host, so the settings of the cluster have none. */
const hostSshSchema = sshSchema
  .extend({
    hostKey: sshHostKey.optional().meta({
      description:
        'SSH host key of this host: a fingerprint `SHA256:…` or a public key. Other keys are refused. Default: known_hosts, or the key that was accepted first.',
    }),
  })
  .meta({ id: 'HostSsh', description: 'SSH connection settings of a host.' })

const extraFile = z
  .strictObject({
    path: absolutePath,
    content: z.string().optional(),
    source: z.string().optional().meta({ description: 'Path of a local file, relative to cluster.yml.' }),
    mode: fileMode.default('0644'),
  })
  .refine(
    ({ content, source }) => (content === undefined) !== (source === undefined),
    'needs either content or source',
  )
  .meta({ id: 'ExtraFile', description: 'A file that hyperkube writes to the host.' })

export const hostSchema = z
  .strictObject({
    name: dnsLabel.meta({ description: 'Name of the host.' }),
    address: address.meta({ description: 'Address for SSH.' }),
    internalAddress: ipAddress.optional().meta({
      description:
        'IP address for connections from other hosts. Default: `address` if it is an IP address, otherwise that of the default route.',
    }),
    internalAddressIPv6: z.ipv6('must be an IPv6 address').optional().meta({
      description:
        'IPv6 address of a node in a dual-stack cluster, on the same interface as its IPv4 address. Default: the only IPv6 address of that interface.',
    }),
    interface: z
      .string()
      .optional()
      .meta({ description: 'Interface with the address for other hosts, instead of `internalAddress`.' }),
    nodeName: nodeName.optional().meta({ description: 'Node name in Kubernetes. Default: `name`.' }),
    os: z.enum(['linux', 'windows']).default('linux'),
    local: z
      .boolean()
      .default(false)
      .meta({ description: 'The host is this machine, and hyperkube uses no ssh.' }),
    roles: z.array(hostRole).min(1, 'needs at least one role'),
    ssh: hostSshSchema.optional(),
    labels: labels.default({}),
    taints: z.array(taint).optional(),
    components: hostComponentsSchema.optional(),
    files: z.array(extraFile).default([]),
  })
  .meta({ id: 'Host', description: 'One machine.' })
export type HostSpec = z.infer<typeof hostSchema>
