import { z } from 'zod'
import { exitCodes } from '../command.ts'
import type { NodeAction } from './action.ts'
import { changeHosts, knownHost, requireNew } from './change-hosts.ts'
import { withHost, withoutHost } from './hosts-edit.ts'

const flags = z.looseObject({ address: z.string().optional(), by: z.string().optional() })

/** Another machine takes the place of one: it has joined before the other one leaves, unless that one is lost. */
export const replaceNode: NodeAction = async (wish) => {
  const { context, cluster, options } = wish
  const { address, by } = flags.parse(options)
  const { name, roles } = knownHost(cluster, wish.name)
  if (by === undefined || address === undefined) {
    context.stderr.write(`USAGE: by which? hyperkube node replace ${name} --by NAME --address ADDRESS\n`)
    return exitCodes.usage
  }
  requireNew(cluster, by)
  return changeHosts(wish, `node replace ${name}`, (text) =>
    withHost(withoutHost(text, name), { name: by, address, roles }),
  )
}
