import { z } from 'zod'
import { parseDuration } from '../kit/time-format.ts'
import { dnsSchema, ingressSchema, metricsSchema, storageSchema, userAddonSchema } from './addons.ts'
import { componentsSchema } from './components.ts'
import type { Path } from './document.ts'
import { etcdSchema } from './etcd.ts'
import { hostSchema, sshSchema } from './host.ts'
import { networkSchema } from './network.ts'
import {
  address,
  dnsLabel,
  kubernetesVersion,
  port,
  secretReference,
  settingsOrNone,
  windowsDirectory,
} from './scalars.ts'

export const clusterApiVersion = 'hyperkube.dev/v1'

const controller = z
  .string()
  .regex(/^(\*|-?[a-z][a-z0-9-]*)$/, 'must be *, the name of a controller, or one with - before it')

const managerSchema = settingsOrNone(
  z
    .strictObject({
      controllers: z
        .array(controller)
        .min(1, 'needs at least one; without any controller: manager: none')
        .default(['*'])
        .meta({
          description:
            'Which are on: `*` is all that are by default, a name is on, `-name` is off. `hyperkube controller-manager list` names them.',
        }),
    })
    .meta({
      id: 'Manager',
      description: 'hyperkube’s own controllers, which look after the cluster while no operator is near.',
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
  .string('must be a length of time such as 90d')
  .refine((text) => {
    const milliseconds = parseDuration(text)
    return milliseconds !== undefined && milliseconds >= minLifetimeMs && milliseconds <= maxLifetimeMs
  }, 'must be a length of time such as 90d or 12h, from 20m to 365d')
  .transform((text) => parseDuration(text) ?? maxLifetimeMs)

export const certificatesSchema = z
  .strictObject({
    lifetime: lifetime.prefault('365d').meta({
      description:
        'How long each is good for, from 20m to 365d. Hosts renew it when a third of that is left.',
    }),
  })
  .meta({ id: 'Certificates', description: 'Certificates of hosts.' })

const api = z
  .strictObject({
    endpoint: z
      .string()
      .regex(/^\[?[A-Za-z0-9.:-]+\]?:\d{1,5}$/, 'must be HOST:PORT')
      .optional()
      .meta({ description: 'Your balancer or virtual address, for people. Nodes need none.' }),
    port: port.default(6443),
    sans: z.array(address).default([]).meta({ description: 'More names in the API servers’ certificates.' }),
  })
  .meta({ id: 'Api', description: 'Where the Kubernetes API is found.' })

const security = z
  .strictObject({
    podSecurity: z
      .enum(['privileged', 'baseline', 'restricted'])
      .default('baseline')
      .meta({ description: 'What pods may do by default in namespaces that do not say.' }),
    audit: z
      .strictObject({
        policy: z
          .string()
          .optional()
          .meta({ description: 'A policy file beside cluster.yml; default: ours.' }),
        maxAge: z.int().min(1).default(30).meta({ description: 'Days.' }),
        maxBackups: z.int().min(1).default(10),
        maxSize: z.int().min(1).default(100).meta({ description: 'Megabytes.' }),
      })
      .prefault({}),
  })
  .meta({ id: 'Security', description: 'Choices of security. What is not a choice is on.' })

const registry = z
  .strictObject({
    host: z.string().min(1).meta({ description: 'As it stands in image names: docker.io.' }),
    mirrors: z.array(z.url({ protocol: /^https?$/ })).default([]),
    username: z.string().optional(),
    password: secretReference.optional(),
  })
  .meta({ id: 'Registry', description: 'Where images of a registry come from instead, and as whom.' })

const artifacts = z
  .union([
    z.strictObject({ mirror: z.url({ protocol: /^https?$/ }) }),
    z.strictObject({ bundle: z.string().min(1) }),
    z.literal('upstream'),
  ])
  .meta({
    id: 'Artifacts',
    description: 'Where programs come from: upstream, a mirror with the same layout, or a bundle.',
  })

const proxy = z
  .strictObject({ http: z.url(), https: z.url(), no: z.array(z.string().min(1)) })
  .partial()
  .meta({ id: 'Proxy', description: 'The way out for containerd, where there is no direct one.' })

const rollout = z
  .strictObject({
    maxUnavailable: z
      .union([z.int().min(1), z.string().regex(/^([1-9]\d?|100)%$/, 'must be a number or a percentage')])
      .default('10%')
      .meta({ description: 'How many workers may be away at once.' }),
  })
  .meta({ id: 'Rollout', description: 'How fast changes go through the cluster.' })

const windows = z
  .strictObject({
    baseDirectory: windowsDirectory
      .default('C:\\hyperkube')
      .meta({ description: 'Where hyperkube keeps what is its own on a host.' }),
    cloud: z.enum(['none', 'aws', 'azure', 'gcp']).default('none').meta({
      description:
        'Whose machines they are: routes to where that cloud tells them about themselves are kept.',
    }),
    metadataAddresses: z
      .array(z.ipv4('must be an IPv4 address'))
      .default([])
      .meta({ description: 'More addresses that routes are kept to, of a cloud that is none of these.' }),
  })
  .meta({ id: 'Windows', description: 'Settings of all Windows hosts.' })

export const clusterSchema = z
  .strictObject({
    apiVersion: z.literal(clusterApiVersion, `must be ${clusterApiVersion}`),
    kind: z.literal('Cluster', 'must be Cluster'),
    metadata: z.strictObject({ name: dnsLabel.meta({ description: 'The name of the cluster.' }) }),
    spec: z.strictObject({
      kubernetes: kubernetesVersion.meta({ description: 'The version of Kubernetes.' }),
      hosts: z.array(hostSchema).min(1, 'needs at least one host'),
      ssh: sshSchema.prefault({}),
      network: networkSchema.prefault({}),
      api: api.prefault({}),
      components: componentsSchema.prefault({}),
      etcd: etcdSchema.prefault({}),
      manager: managerSchema.prefault({}),
      security: security.prefault({}),
      certificates: certificatesSchema.prefault({}),
      dns: dnsSchema.prefault({}),
      metrics: metricsSchema.prefault({}),
      ingress: ingressSchema.prefault({}),
      storage: storageSchema.prefault({}),
      addons: z.array(userAddonSchema).default([]).meta({ description: 'Your own, in this order.' }),
      registries: z.array(registry).default([]),
      artifacts: artifacts.default('upstream'),
      cloudProvider: z
        .enum(['none', 'external'])
        .default('none')
        .meta({ description: 'external: nodes wait for a cloud controller manager of yours.' }),
      proxy: proxy.optional(),
      rollout: rollout.prefault({}),
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

/**
 * Returns the hosts that run etcd: the hosts with the role etcd, or all control planes if no host has this
 * role.
 */
export function etcdHosts({ spec }: Cluster): Cluster['spec']['hosts'] {
  const dedicated = spec.hosts.filter(({ roles }) => roles.includes('etcd'))
  return dedicated.length > 0 ? dedicated : spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
}
