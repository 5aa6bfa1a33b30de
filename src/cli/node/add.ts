import { z } from 'zod'
import { exitCodes } from '../command.ts'
import type { NodeAction } from './action.ts'
import { changeHosts, requireNew } from './change-hosts.ts'
import { withHost } from './hosts-edit.ts'

const flags = z.looseObject({ address: z.string().optional(), role: z.array(z.string()).default(['worker']) })

/** Another machine: it joins once it has all that its roles need. */
export const addNode: NodeAction = async (wish) => {
  const { context, cluster, name, options } = wish
  const { address, role } = flags.parse(options)
  if (address === undefined) {
    context.stderr.write(`USAGE: where is it? hyperkube node add ${name} --address ADDRESS\n`)
    return exitCodes.usage
  }
  requireNew(cluster, name)
  return changeHosts(wish, `node add ${name}`, (text) => withHost(text, { name, address, roles: role }))
}
