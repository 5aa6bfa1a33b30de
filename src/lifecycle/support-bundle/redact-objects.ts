import { z } from 'zod'
import type { KubeObject } from '../../kube/object.ts'

const open = z.looseObject({})
const container = z.object({
  name: z.string(),
  image: z.string().optional(),
  resources: open.optional(),
  ports: z.array(open).optional(),
})

/** Of a pod only what is named here: commands, environments and volumes may hold what nobody else is to know. */
const pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    creationTimestamp: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    ownerReferences: z.array(open).optional(),
  }),
  spec: z
    .object({
      nodeName: z.string().optional(),
      hostNetwork: z.boolean().optional(),
      priorityClassName: z.string().optional(),
      nodeSelector: z.record(z.string(), z.string()).optional(),
      tolerations: z.array(open).optional(),
      initContainers: z.array(container).optional(),
      containers: z.array(container).optional(),
    })
    .optional(),
  status: open.optional(),
})

export function podOf(object: KubeObject): object {
  return pod.catch({ metadata: { name: object.metadata.name } }).parse(object)
}

/** All of a node but the images that it has, and who changed which field. */
export function nodeOf(object: KubeObject): object {
  const { status, ...rest } = withoutManagers(object)
  const { images: _, ...kept } = open.catch({}).parse(status)
  return { ...rest, status: kept }
}

/** All but who changed which field. */
export function wholeOf(object: KubeObject): object {
  return withoutManagers(object)
}

/** Of annotations, what somebody applied has all of it once more. */
function withoutManagers({ metadata, ...rest }: KubeObject): Record<string, unknown> {
  const { managedFields: _, annotations = {}, ...kept } = metadata
  const known = Object.entries(annotations).filter(([name]) => !name.endsWith('/last-applied-configuration'))
  return { metadata: { ...kept, annotations: Object.fromEntries(known) }, ...rest }
}
