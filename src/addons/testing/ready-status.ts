import { type JsonFields, parseJsonFields } from './field-set.ts'

/** Builds the status that an object has once its controllers have finished. */
export function buildReadyStatus(object: JsonFields): JsonFields | undefined {
  const { generation } = parseJsonFields(object['metadata'])
  const spec = parseJsonFields(object['spec'] ?? {})
  const replicas = Number(spec['replicas'] ?? 1)
  switch (object['kind']) {
    case 'Namespace':
      return { phase: 'Active' }
    case 'CustomResourceDefinition':
      return { conditions: [{ type: 'Established', status: 'True' }] }
    case 'Deployment':
      return {
        observedGeneration: generation,
        replicas,
        updatedReplicas: replicas,
        availableReplicas: replicas,
      }
    default:
      return undefined
  }
}
