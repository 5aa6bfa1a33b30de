import { z } from 'zod'
import { dnsSchema, ingressSchema, metricsSchema, storageSchema } from './addons.ts'
import { certificatesSchema } from './certificates.ts'
import { componentsSchema } from './components.ts'
import { etcdSchema } from './etcd.ts'
import { hostSchema, sshSchema } from './host.ts'
import { managerSchema } from './manager.ts'
import { networkSchema } from './network.ts'
import { userAddonSchema } from './user-addon.ts'
import { address, dnsLabel, kubernetesVersion, port, secretReference, windowsDirectory } from './scalars.ts'

export const clusterApiVersion = 'hyperkube.dev/v1'

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
