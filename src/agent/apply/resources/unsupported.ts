import type { OpTarget } from '../../../contract/op.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { AnyTarget } from '../resource-handler.ts'

/** A kind of thing that there is not on this system, and that no plan for it has. */
export function never(target: OpTarget): AnyTarget {
  const refuse = async (): Promise<never> => {
    throw new HyperkubeError('APPLY_OTHER_SYSTEM', `there is no ${target} on this host`, {
      hint: 'the plan was made for another system: look at os of the host in cluster.yml',
    })
  }
  return { inspect: refuse, foresee: refuse, make: refuse, remove: refuse }
}
