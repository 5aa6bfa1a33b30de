import type { OpTarget } from '../../../contract/op.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { AnyResourceHandler } from '../resource-handler.ts'

/** Handler that always throws, for a resource kind that this operating system does not have. */
export function unsupportedHandler(target: OpTarget): AnyResourceHandler {
  const refuse = async (): Promise<never> => {
    throw new HyperkubeError('APPLY_OTHER_SYSTEM', `there is no ${target} on this host`, {
      hint: 'the plan was made for another system: look at os of the host in cluster.yml',
    })
  }
  return { inspect: refuse, recordBefore: refuse, make: refuse, remove: refuse }
}
