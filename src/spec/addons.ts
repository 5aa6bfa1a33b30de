import { z } from 'zod'
import { parseDuration } from '../kit/time-format.ts'
import {
  dnsLabel,
  ipAddress,
  labelKey,
  labelValue,
  linuxPath,
  port,
  quantity,
  settingsOrNone,
} from './scalars.ts'

/** Names of the addons that come with hyperkube. Addons of a user cannot have these names. */
export const builtInAddons = ['coredns', 'metrics-server', 'traefik', 'local-path'] as const

const resourceAmounts = z.strictObject({ cpu: quantity, memory: quantity }).partial()

const resources = z
  .strictObject({
    requests: resourceAmounts.default({}).meta({ description: 'What a node must have left for it.' }),
    limits: resourceAmounts.default({}).meta({ description: 'What it must not go beyond.' }),
  })
  .meta({ id: 'PodResources', description: 'What a pod gets of a node; what is left out stays as it is.' })

const toleration = z
  .strictObject({
    key: labelKey.optional(),
    operator: z.enum(['Equal', 'Exists']).optional(),
    value: labelValue.optional(),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
    tolerationSeconds: z.int().optional(),
  })
  .meta({ id: 'Toleration', description: 'A taint that does not keep a pod away.' })

const patch = z
  .strictObject({
    kind: z.string().min(1).meta({ description: 'Of the object: Deployment.' }),
    name: z.string().min(1),
    patch: z
      .record(z.string(), z.json())
      .meta({ description: 'Maps are joined, null removes, everything else is replaced.' }),
  })
  .meta({ id: 'Patch', description: 'Changes to one of the objects that an addon is made of.' })

const common = {
  resources: resources.prefault({}),
  tolerations: z.array(toleration).optional().meta({ description: 'Instead of ours.' }),
  nodeSelector: z.record(labelKey, labelValue).default({}).meta({
    description: 'Labels that a node must have, besides being a Linux one.',
  }),
  patches: z.array(patch).default([]).meta({ description: 'For what has no setting.' }),
}

const replicas = z.int().min(1).max(100).optional()

export const dnsSchema = settingsOrNone(
  z
    .strictObject({
      replicas: replicas.meta({ description: 'Default: by the number of hosts, two or more.' }),
      forward: z.array(ipAddress).max(15).optional().meta({
        description:
          'Servers that resolve names outside the cluster; an empty list means none. Default: those of the hosts.',
      }),
      ...common,
    })
    .meta({ id: 'Dns', description: 'CoreDNS, which knows the names of services.' }),
)

export const metricsSchema = settingsOrNone(
  z
    .strictObject({ replicas: replicas.meta({ description: 'Default: 1.' }), ...common })
    .meta({ id: 'Metrics', description: 'metrics-server, for `kubectl top` and autoscalers.' }),
)

/** Port of Traefik's health endpoint. It is bound on the host and not reachable from outside. */
export const traefikHealthPort = 10_254

export const ingressSchema = settingsOrNone(
  z
    .strictObject({
      httpPort: port.default(80).meta({ description: 'On every node.' }),
      httpsPort: port.default(443).meta({ description: 'On every node.' }),
      defaultClass: z.boolean().default(true).meta({ description: 'For Ingresses that name no class.' }),
      ...common,
    })
    .meta({ id: 'Ingress', description: 'Traefik, one pod on every node.' }),
)

export const storageSchema = settingsOrNone(
  z
    .strictObject({
      path: linuxPath.default('/var/lib/hyperkube-volumes').meta({
        description:
          'A directory of each node for volumes alone: only root may enter it, and `reset` leaves it there.',
      }),
      reclaimPolicy: z.enum(['Delete', 'Retain']).default('Delete').meta({
        description:
          'What becomes of a volume when its claim is deleted. To change it later, delete the StorageClass local-path first.',
      }),
      defaultClass: z.boolean().default(true).meta({ description: 'For claims that name no class.' }),
      ...common,
    })
    .meta({ id: 'Storage', description: 'local-path-provisioner: volumes that are directories of a node.' }),
)

type Settings<T extends z.ZodType> = Exclude<z.infer<T>, 'none'>
export type DnsSettings = Settings<typeof dnsSchema>
export type MetricsSettings = Settings<typeof metricsSchema>
export type IngressSettings = Settings<typeof ingressSchema>
export type StorageSettings = Settings<typeof storageSchema>
/** Settings that all built-in addons share. */
export type PodSettings = Pick<DnsSettings, keyof typeof common>

const remoteFile = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
    sha256: z
      .string('must be 64 hexadecimal digits in quotes')
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits: curl -sL URL | sha256sum')
      .meta({ description: '`curl -sL URL | sha256sum` says it.' }),
  })
  .meta({
    id: 'RemoteFile',
    description: 'Manifests at an address. The digest makes sure that they stay what you have read.',
  })

const timeout = z
  .string('must be a length of time such as 5m')
  .refine((text) => parseDuration(text) !== undefined, 'must be a length of time such as 90s, 5m or 1h30m')
  .transform((text) => parseDuration(text) ?? 0)

export const userAddonSchema = z
  .strictObject({
    name: dnsLabel.meta({
      description: 'What hyperkube calls it. Keep it: with another name it is another addon.',
    }),
    enabled: z
      .boolean()
      .default(true)
      .meta({ description: 'false takes it out of the cluster, and leaves it in this file.' }),
    files: z.array(z.string().min(1)).default([]).meta({
      description: 'Files and directories beside cluster.yml; of a directory all *.yml, *.yaml, *.json.',
    }),
    urls: z.array(remoteFile).default([]),
    inline: z
      .union(
        [z.string(), z.array(z.record(z.string(), z.json()))],
        'must be a list of manifests, or YAML as text',
      )
      .optional()
      .meta({ description: 'Manifests written here: a list of them, or YAML as text.' }),
    wait: z
      .boolean()
      .default(true)
      .meta({ description: 'For all of it to be ready, before what comes next.' }),
    timeout: timeout.prefault('5m').meta({ description: 'How long to wait.' }),
    force: z.boolean().default(false).meta({ description: 'Take over fields that others have set.' }),
  })
  .refine(
    ({ files, urls, inline }) => files.length + urls.length > 0 || inline !== undefined,
    'needs files, urls or inline',
  )
  .meta({
    id: 'OwnAddon',
    description:
      'Something of yours that is kept in the cluster. Manifests without a namespace go to `default`.',
  })
export type UserAddon = z.infer<typeof userAddonSchema>
