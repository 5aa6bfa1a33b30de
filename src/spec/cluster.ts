import { z } from 'zod'
import { parseDuration } from '../kit/time-format.ts'
import { dnsSchema, ingressSchema, metricsSchema, storageSchema, userAddonSchema } from './addons.ts'
import { apiSchema } from './api.ts'
import { componentsSchema } from './components.ts'
import type { Path } from './document.ts'
import { artifactsSchema, registrySchema } from './download-sources.ts'
import { etcdSchema } from './etcd.ts'
import { hostSchema, type HostSpec, sshSchema } from './host.ts'
import { loadBalancerSchema } from './load-balancer.ts'
import { networkSchema } from './network.ts'
import { proxySchema } from './proxy.ts'
import { securitySchema } from './security.ts'
import { clusterLabels, dnsLabel, kubernetesVersion, settingsOrNone, windowsDirectory } from './scalars.ts'

export const clusterApiVersion = 'hyperkube.dev/v1'

const controller = z
  .string()
  .regex(/^(\*|-?[a-z][a-z0-9-]*)$/, 'must be *, a controller name, or a controller name with a leading -')

const managerSchema = settingsOrNone(
  z
    .strictObject({
      controllers: z
        .array(controller)
        .min(1, 'needs at least one; to run no controllers: manager: none')
        .default(['*'])
        .meta({
          description:
            'Controllers to run: `*` is the default set, a name enables one, `-name` disables one. `hyperkube controller-manager list` lists them.',
        }),
    })
    .meta({
      id: 'Manager',
      description: 'Controllers of hyperkube, which manage the cluster without an operator.',
    }),
)

/**
 * Minimum lifetime of a certificate. Renewal starts when a third of the lifetime is left. A third must exceed
 * the five minutes between two certificate checks of a component.
 */
const minLifetimeMs = 20 * 60_000
/** Maximum lifetime of a certificate. Renewals without an operator are limited to the same lifetime. */
const maxLifetimeMs = 365 * 86_400_000

const lifetime = z
  .string('must be a duration such as 90d')
  .refine((text) => {
    const milliseconds = parseDuration(text)
    return milliseconds !== undefined && milliseconds >= minLifetimeMs && milliseconds <= maxLifetimeMs
  }, 'must be a duration from 20m to 365d, such as 90d or 12h')
  .transform((text) => parseDuration(text) ?? maxLifetimeMs)

export const certificatesSchema = z
  .strictObject({
    lifetime: lifetime.prefault('365d').meta({
      description:
        'Lifetime of each certificate, from 20m to 365d. Hosts renew a certificate when a third of its lifetime is left.',
    }),
  })
  .meta({ id: 'Certificates', description: 'Certificates of hosts.' })

const rollout = z
  .strictObject({
    maxUnavailable: z
      .union([z.int().min(1), z.string().regex(/^([1-9]\d?|100)%$/, 'must be a number or a percentage')])
      .default('10%')
      .meta({
        description: 'Maximum number or percentage of workers that are unavailable at the same time.',
      }),
  })
  .meta({ id: 'Rollout', description: 'How changes roll out through the cluster.' })

const workers = z
  .strictObject({
    kubernetes: kubernetesVersion.optional().meta({
      description:
        'Kubernetes version of hosts whose only role is worker: at most three minors older than `spec.kubernetes`. Default: `spec.kubernetes`. `hyperkube upgrade` sets and removes it.',
    }),
  })
  .meta({ id: 'Workers', description: 'Settings of hosts whose only role is worker.' })

const windows = z
  .strictObject({
    baseDirectory: windowsDirectory
      .default('C:\\hyperkube')
      .meta({ description: 'Directory of hyperkube on a Windows host.' }),
    cloud: z.enum(['none', 'aws', 'azure', 'gcp']).default('none').meta({
      description:
        'Cloud of the hosts. hyperkube preserves their routes to the metadata service of that cloud.',
    }),
    metadataAddresses: z
      .array(z.ipv4('must be an IPv4 address'))
      .default([])
      .meta({ description: 'Metadata addresses of another cloud, to which routes are preserved.' }),
  })
  .meta({ id: 'Windows', description: 'Settings of all Windows hosts.' })

const heldUpgrade = z
  .strictObject({
    to: kubernetesVersion.meta({
      description: 'Version of the control plane programs, which emulate the minor of `kubernetes`.',
    }),
    since: z.iso
      .datetime('must be a time such as 2026-11-17T20:00:00Z')
      .meta({ description: 'When the upgrade was started.' }),
  })
  .meta({
    id: 'HeldUpgrade',
    description:
      'An upgrade that can be undone. `hyperkube upgrade --hold` writes it; `upgrade confirm` and `upgrade rollback` remove it.',
  })

export const clusterSchema = z
  .strictObject({
    apiVersion: z.literal(clusterApiVersion, `must be ${clusterApiVersion}`),
    kind: z.literal('Cluster', 'must be Cluster'),
    metadata: z.strictObject({
      name: dnsLabel.meta({ description: 'The name of the cluster.' }),
      fleet: z
        .string()
        .regex(/\.ya?ml$/, 'must be the path of a fleet.yml')
        .optional()
        .meta({
          description: 'Path of the fleet.yml from which the cluster inherits values, relative to this file.',
        }),
      labels: clusterLabels
        .refine((all) => !('name' in all), 'must not contain name: it is the name of the cluster')
        .optional()
        .meta({ description: 'Labels that select the cluster in its fleet.' }),
    }),
    spec: z.strictObject({
      kubernetes: kubernetesVersion.meta({ description: 'The version of Kubernetes.' }),
      heldUpgrade: heldUpgrade.optional(),
      hosts: z.array(hostSchema).min(1, 'needs at least one host'),
      ssh: sshSchema.prefault({}),
      network: networkSchema.prefault({}),
      api: apiSchema.prefault({}),
      components: componentsSchema.prefault({}),
      etcd: etcdSchema.prefault({}),
      manager: managerSchema.prefault({}),
      security: securitySchema.prefault({}),
      certificates: certificatesSchema.prefault({}),
      dns: dnsSchema.prefault({}),
      metrics: metricsSchema.prefault({}),
      ingress: ingressSchema.prefault({}),
      storage: storageSchema.prefault({}),
      loadBalancer: loadBalancerSchema.default('none'),
      addons: z
        .array(userAddonSchema)
        .default([])
        .meta({ description: 'Your own addons. They are applied in this order.' }),
      registries: z.array(registrySchema).default([]),
      artifacts: artifactsSchema.default('upstream'),
      cloudProvider: z
        .enum(['none', 'external'])
        .default('none')
        .meta({ description: 'external: nodes wait for the cloud controller manager that you install.' }),
      proxy: proxySchema.optional(),
      rollout: rollout.prefault({}),
      workers: workers.prefault({}),
      windows: windows.prefault({}),
    }),
  })
  .meta({ id: 'Cluster', title: 'hyperkube cluster.yml', description: 'One cluster.' })

/** A parsed cluster.yml with every default filled in. */
export type Cluster = z.infer<typeof clusterSchema>

/** Builds the JSON Schema with which editors complete and check cluster.yml. */
export function clusterJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(clusterSchema, { io: 'input', target: 'draft-2020-12' })
}

type Schema = z.core.JSONSchema._JSONSchema

/** Lists the keys that the schema of cluster.yml allows in the map at a path. */
export function knownKeys(root: z.core.JSONSchema.BaseSchema, path: Path): string[] {
  const resolve = (schema: Schema | undefined): z.core.JSONSchema.BaseSchema[] => {
    if (schema === undefined || typeof schema === 'boolean') return []
    if (schema.$ref !== undefined) return resolve(root.$defs?.[schema.$ref.replace('#/$defs/', '')])
    return [schema, ...(schema.anyOf ?? []).flatMap(resolve)]
  }
  const step = (schemas: readonly z.core.JSONSchema.BaseSchema[], part: string | number) =>
    schemas.flatMap((schema) =>
      typeof part === 'number'
        ? [schema.items].flat().flatMap((item) => resolve(item))
        : resolve(schema.properties?.[part] ?? schema.additionalProperties),
    )
  const found = path.reduce(step, resolve(root))
  return found.flatMap((schema) => Object.keys(schema.properties ?? {}))
}

/** True if the host has no role but worker. Such hosts may have an older Kubernetes version. */
export function isWorkerHost({ roles }: Pick<HostSpec, 'roles'>): boolean {
  return roles.every((role) => role === 'worker')
}

/** Returns the Kubernetes version of hosts whose only role is worker. */
export function readWorkersVersion({ spec }: Pick<Cluster, 'spec'>): string {
  return spec.workers.kubernetes ?? spec.kubernetes
}

/**
 * Returns the hosts that run etcd: the hosts with the role etcd, or all control planes if no host has this
 * role.
 */
export function etcdHosts({ spec }: Cluster): Cluster['spec']['hosts'] {
  const dedicated = spec.hosts.filter(({ roles }) => roles.includes('etcd'))
  return dedicated.length > 0 ? dedicated : spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
}
