import type { NodeAction } from './action.ts'
import { changeHosts, requireHost } from './change-hosts.ts'
import { deleteHost } from './hosts-edit.ts'

/**
 * Removes a host from cluster.yml and runs `up`, which removes it from the cluster even if it is unreachable.
 */
export const removeNode: NodeAction = async (invocation) => {
  const { name } = requireHost(invocation.cluster, invocation.name)
  return changeHosts(invocation, `node remove ${name}`, (text) => deleteHost(text, name))
}
