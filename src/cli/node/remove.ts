import type { NodeAction } from './action.ts'
import { changeHosts, requireHost } from './change-hosts.ts'
import { deleteHost } from './hosts-edit.ts'

/** Removes a host with its roles in the cluster. A lost host is removed without its help. */
export const removeNode: NodeAction = async (invocation) => {
  const { name } = requireHost(invocation.cluster, invocation.name)
  return changeHosts(invocation, `node remove ${name}`, (text) => deleteHost(text, name))
}
