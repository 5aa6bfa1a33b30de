import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import type { StoredObject } from './inventory.ts'

const webhook = z.looseObject({
  name: z.string(),
  failurePolicy: z.enum(['Fail', 'Ignore']).default('Fail'),
  clientConfig: z.looseObject({
    url: z.string().optional(),
    service: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
  }),
  rules: z
    .array(
      z.looseObject({
        apiGroups: z.array(z.string()).default([]),
        resources: z.array(z.string()).default([]),
        operations: z.array(z.string()).default([]),
      }),
    )
    .default([]),
})
type Webhook = z.infer<typeof webhook>

const webhookConfiguration = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  webhooks: z.array(webhook).default([]),
})

const endpointSlice = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), labels: z.record(z.string(), z.string()).optional() }),
  endpoints: z
    .array(z.looseObject({ conditions: z.looseObject({ ready: z.boolean().optional() }).optional() }))
    .nullish(),
})

/** Resources that an upgrade writes when it cordons nodes, evicts and restarts pods, and renews leases. */
const writtenByUpgrade: readonly (readonly [group: string, resource: string])[] = [
  ['', 'nodes'],
  ['', 'nodes/status'],
  ['', 'pods'],
  ['', 'pods/eviction'],
  ['', 'pods/status'],
  ['coordination.k8s.io', 'leases'],
]

/** Resources of webhook configurations. */
export const webhookResources: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
])
export const endpointSliceResource = 'endpointslices.discovery.k8s.io'

/**
 * Finds webhooks that would block an upgrade. Such a webhook has failurePolicy Fail and matches a resource
 * that the upgrade writes, and its service has no ready endpoint.
 */
export function findBlockingWebhooks(
  configurations: readonly StoredObject[],
  endpointSlices: readonly StoredObject[],
): Finding[] {
  const readyServices = listReadyServices(endpointSlices)
  return configurations.flatMap((object) => {
    const { metadata, webhooks } = webhookConfiguration.parse(object)
    return webhooks.flatMap((one) => {
      const resource = findWrittenResource(one)
      const { service } = one.clientConfig
      if (one.failurePolicy !== 'Fail' || resource === undefined || service === undefined) return []
      if (readyServices.has(`${service.namespace}/${service.name}`)) return []
      return [
        {
          code: 'REHEARSAL_WEBHOOK_BLOCKS',
          severity: 'error' as const,
          message: `the webhook ${one.name} of ${metadata.name} must allow writes of ${resource}, and its service ${service.namespace}/${service.name} has no ready endpoint`,
          hint: `start its pods, or delete it: hyperkube kubectl get endpointslices -n ${service.namespace} -l ${serviceLabel}=${service.name}`,
        },
      ]
    })
  })
}

function findWrittenResource({ rules }: Webhook): string | undefined {
  return writtenByUpgrade.find(([group, resource]) =>
    rules.some(
      ({ apiGroups, resources }) =>
        apiGroups.some((one) => one === '*' || one === group) &&
        resources.some((pattern) => matchesResource(pattern, resource)),
    ),
  )?.[1]
}

/** Matches a resource pattern of a webhook rule. `*` matches all resources but no subresources. */
function matchesResource(pattern: string, resource: string): boolean {
  if (pattern === resource || pattern === '*/*') return true
  const [main, sub] = resource.split('/')
  if (pattern === '*') return sub === undefined
  return sub !== undefined && (pattern === `${main}/*` || pattern === `*/${sub}`)
}

const serviceLabel = 'kubernetes.io/service-name'

function listReadyServices(slices: readonly StoredObject[]): ReadonlySet<string> {
  return new Set(
    slices.flatMap((object) => {
      const { metadata, endpoints } = endpointSlice.parse(object)
      const name = metadata.labels?.[serviceLabel]
      const isReady = endpoints?.some(({ conditions }) => conditions?.ready !== false) === true
      return name !== undefined && isReady ? [`${metadata.namespace}/${name}`] : []
    }),
  )
}
