import { z } from 'zod'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
import type { KubeObject } from '../../kube/object.ts'

/** Maximum length in characters. Of a longer text only the end is kept, which is the newest part. */
const maxLength = 4 << 20

/** Removes secrets and control characters from collected texts. */
export interface Cleaner {
  text(text: string): string
  /** Cleans a document and formats it as JSON. */
  json(document: unknown): string
  /** Cleans a text of JSON lines, each line separately. A line that is not JSON is cleaned as text. */
  lines(text: string): string
}

export function createCleaner(mask: SecretMask): Cleaner {
  const text = (input: string): string => toPrintable(keepEnd(mask.text(input)))
  const cleanLine = (line: string): string => {
    try {
      return JSON.stringify(mask.data(JSON.parse(line)))
    } catch {
      return text(line)
    }
  }
  return {
    text,
    json: (document) => `${JSON.stringify(mask.data(document), undefined, 2)}\n`,
    lines: (input) => keepEnd(input.split('\n').map(cleanLine).join('\n')),
  }
}

function keepEnd(text: string): string {
  if (text.length <= maxLength) return text
  return `… ${text.length - maxLength} characters before this are left out\n${text.slice(-maxLength)}`
}

const anyObject = z.looseObject({})
const container = z.object({
  name: z.string(),
  image: z.string().optional(),
  resources: anyObject.optional(),
  ports: z.array(anyObject).optional(),
})

/**
 * Fields of a pod that are kept. Commands, environments and volumes are left out, because they may contain
 * confidential data.
 */
const pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    creationTimestamp: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    ownerReferences: z.array(anyObject).optional(),
  }),
  spec: z
    .object({
      nodeName: z.string().optional(),
      hostNetwork: z.boolean().optional(),
      priorityClassName: z.string().optional(),
      nodeSelector: z.record(z.string(), z.string()).optional(),
      tolerations: z.array(anyObject).optional(),
      initContainers: z.array(container).optional(),
      containers: z.array(container).optional(),
    })
    .optional(),
  status: anyObject.optional(),
})

export function redactPod(object: KubeObject): object {
  return pod.catch({ metadata: { name: object.metadata.name } }).parse(object)
}

/** Drops the image list and the managed fields of a node. */
export function redactNode(object: KubeObject): object {
  const { status, ...rest } = dropManagedFields(object)
  const { images: _, ...remaining } = anyObject.catch({}).parse(status)
  return { ...rest, status: remaining }
}

export function redactObject(object: KubeObject): object {
  return dropManagedFields(object)
}

/** Drops the managed fields. Also drops the last-applied annotation, because it repeats the whole object. */
function dropManagedFields({ metadata, ...rest }: KubeObject): Record<string, unknown> {
  const { managedFields: _, annotations = {}, ...remaining } = metadata
  const keptAnnotations = Object.entries(annotations).filter(
    ([name]) => !name.endsWith('/last-applied-configuration'),
  )
  return { metadata: { ...remaining, annotations: Object.fromEntries(keptAnnotations) }, ...rest }
}
