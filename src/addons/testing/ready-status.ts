import { type Json, jsonOf } from './field-set.ts'

/** As if whoever looks after the object were done with it at once. */
export function readyStatus(object: Json): Json | undefined {
  const { generation } = jsonOf(object['metadata'])
  const spec = jsonOf(object['spec'] ?? {})
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
