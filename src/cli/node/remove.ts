import type { NodeAction } from './action.ts'
import { changeHosts, knownHost } from './change-hosts.ts'
import { withoutHost } from './hosts-edit.ts'

/** A machine leaves, with what it is in the cluster; one that is lost is taken out without its help. */
export const removeNode: NodeAction = async (wish) => {
  const { name } = knownHost(wish.cluster, wish.name)
  return changeHosts(wish, `node remove ${name}`, (text) => withoutHost(text, name))
}
