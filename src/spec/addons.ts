import { z } from 'zod'
import { parseDuration } from '../kit/time-format.ts'
import { chartSchema, remoteFile } from './chart.ts'
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
export const builtInAddons = ['coredns', 'metrics-server', 'traefik', 'local-path', 'metallb'] as const

const resourceAmounts = z.strictObject({ cpu: quantity, memory: quantity }).partial()

const resources = z
  .strictObject({
    requests: resourceAmounts.default({}).meta({ description: 'Resource requests of the pod.' }),
    limits: resourceAmounts.default({}).meta({ description: 'Resource limits of the pod.' }),
  })
  .meta({ id: 'PodResources', description: 'Resources of a pod. Omitted values keep their defaults.' })

const toleration = z
  .strictObject({
    key: labelKey.optional(),
    operator: z.enum(['Equal', 'Exists']).optional(),
    value: labelValue.optional(),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
    tolerationSeconds: z.int().optional(),
  })
  .meta({ id: 'Toleration', description: 'A taint that the pods tolerate.' })

const patch = z
  .strictObject({
    kind: z.string().min(1).meta({ description: 'Kind of the object, such as Deployment.' }),
    name: z.string().min(1),
    patch: z.record(z.string(), z.json()).meta({
      description: 'JSON merge patch: maps are merged, null removes a field, other values are replaced.',
    }),
  })
  .meta({ id: 'Patch', description: 'A patch for one object of an addon.' })

/** Settings that all built-in addons have. */
export const podSettings = {
  resources: resources.prefault({}),
  tolerations: z.array(toleration).optional().meta({ description: 'Replaces the default tolerations.' }),
  nodeSelector: z.record(labelKey, labelValue).default({}).meta({
    description: 'Node labels that pods require, in addition to Linux.',
  }),
  patches: z.array(patch).default([]).meta({ description: 'Patches for fields that have no setting.' }),
}

const replicas = z.int().min(1).max(100).optional()

export const dnsSchema = settingsOrNone(
  z
    .strictObject({
      replicas: replicas.meta({ description: 'Default: two or more, depending on the number of hosts.' }),
      forward: z.array(ipAddress).max(15).optional().meta({
        description:
          'Servers that resolve names outside the cluster; an empty list means none. Default: those of the hosts.',
      }),
      ...podSettings,
    })
    .meta({ id: 'Dns', description: 'CoreDNS, the DNS server of the cluster.' }),
)

export const metricsSchema = settingsOrNone(
  z
    .strictObject({ replicas: replicas.meta({ description: 'Default: 1.' }), ...podSettings })
    .meta({ id: 'Metrics', description: 'metrics-server, for `kubectl top` and autoscalers.' }),
)

/** Port of Traefik's health endpoint. Traefik binds it to 127.0.0.1, so other machines cannot reach it. */
export const traefikHealthPort = 10_254

const gatewayApi = z
  .strictObject({
    crds: z.enum(['install', 'external']).default('install').meta({
      description:
        'install: hyperkube installs the CRDs of the Gateway API. external: the cluster already has them, in v1.4.0 or later.',
    }),
    defaultGateway: z.boolean().default(false).meta({
      description:
        'Whether to create the Gateway kube-system/traefik, with an HTTP listener on httpPort for routes of all namespaces.',
    }),
  })
  .meta({
    id: 'GatewayApi',
    description: 'Traefik also serves the Gateway API: GatewayClass traefik, HTTPRoutes and GRPCRoutes.',
  })

export const ingressSchema = settingsOrNone(
  z
    .strictObject({
      httpPort: port.default(80).meta({ description: 'HTTP port on every node that runs Traefik.' }),
      httpsPort: port.default(443).meta({ description: 'HTTPS port on every node that runs Traefik.' }),
      defaultClass: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether Traefik also serves Ingresses without a class.' }),
      gatewayApi: gatewayApi.optional(),
      nginxAnnotations: z.boolean().default(false).meta({
        description:
          'Whether Traefik serves Ingresses of the class nginx, with some of the annotations of ingress-nginx. `doctor` lists the others.',
      }),
      ...podSettings,
    })
    .meta({
      id: 'Ingress',
      description:
        'Traefik, one pod on each control plane, or on each node that nodeSelector selects. Traefik can read all Secrets, and so can root on those nodes.',
    }),
)

export const storageSchema = settingsOrNone(
  z
    .strictObject({
      path: linuxPath.default('/var/lib/hyperkube-volumes').meta({
        description:
          'Directory for volumes on each node. Only root can enter it, and `reset` does not delete it.',
      }),
      reclaimPolicy: z.enum(['Delete', 'Retain']).default('Delete').meta({
        description:
          'Reclaim policy of volumes. To change it later, first delete the StorageClass local-path.',
      }),
      defaultClass: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether claims without a StorageClass use it.' }),
      ...podSettings,
    })
    .meta({
      id: 'Storage',
      description:
        'local-path-provisioner: volumes in a directory of a node. It can start pods on every node, so it runs on control planes, unless nodeSelector selects others.',
    }),
)

export type Settings<T extends z.ZodType> = Exclude<z.infer<T>, 'none'>
export type DnsSettings = Settings<typeof dnsSchema>
export type MetricsSettings = Settings<typeof metricsSchema>
export type IngressSettings = Settings<typeof ingressSchema>
export type StorageSettings = Settings<typeof storageSchema>
export type PodSettings = Pick<DnsSettings, keyof typeof podSettings>

const timeout = z
  .string('must be a duration such as 5m')
  .refine((text) => parseDuration(text) !== undefined, 'must be a duration such as 90s, 5m or 1h30m')
  .transform((text) => parseDuration(text) ?? 0)

export const userAddonSchema = z
  .strictObject({
    name: dnsLabel.meta({
      description: 'Name of the addon. Do not change it: another name is another addon.',
    }),
    enabled: z.boolean().default(true).meta({ description: '`false` removes the addon from the cluster.' }),
    files: z.array(z.string().min(1)).default([]).meta({
      description:
        'Files and directories, relative to cluster.yml. From a directory hyperkube reads *.yml, *.yaml and *.json.',
    }),
    urls: z.array(remoteFile).default([]),
    inline: z
      .union(
        [z.string(), z.array(z.record(z.string(), z.json()))],
        'must be a list of manifests or a YAML string',
      )
      .optional()
      .meta({ description: 'Inline manifests: a list of objects or a YAML string.' }),
    chart: chartSchema.optional().meta({ description: 'A Helm chart, instead of manifests.' }),
    wait: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether `up` waits until all objects of the addon are ready.' }),
    timeout: timeout.prefault('5m').meta({ description: 'Longest wait for the addon.' }),
    force: z.boolean().default(false).meta({ description: 'Take over fields that other managers have set.' }),
  })
  .refine(
    ({ files, urls, inline, chart }) => files.length + urls.length > 0 || (inline ?? chart) !== undefined,
    'needs files, urls, inline or chart',
  )
  .refine(
    ({ files, urls, inline, chart }) =>
      chart === undefined || (files.length + urls.length === 0 && inline === undefined),
    'has a chart, so it must not have files, urls or inline',
  )
  .meta({
    id: 'OwnAddon',
    description:
      'An addon with your own manifests, or a Helm chart. Manifests without a namespace go to `default`.',
  })
export type UserAddon = z.infer<typeof userAddonSchema>
