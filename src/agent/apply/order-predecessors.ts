import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'

/**
 * Ends the API server of another tool before the etcd member that it needs. Otherwise it would answer requests with
 * errors until it ends, and clients would not use other API servers.
 */
export function orderPredecessors(
  ops: readonly Op[],
  { components }: Pick<NodePlan, 'components'>,
): readonly Op[] {
  const ends = ops.filter(({ target, action }) => target === 'predecessor' && action !== 'remove')
  const servers = ends.filter(({ stage }) => stage === 'api')
  const member = ends.find(({ stage }) => stage === 'etcd')
  if (member === undefined) return ops
  const dependents = servers.filter(({ component }) =>
    components.some(({ name, needs }) => name === component && needs.includes(member.component)),
  )
  return ops.flatMap((op) => {
    if (op === member) return [...dependents, op]
    return dependents.includes(op) ? [] : [op]
  })
}
