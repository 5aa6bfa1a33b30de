import { z } from 'zod'
import { exitCodes } from '../command.ts'
import type { NodeAction } from './action.ts'
import { changeHosts, requireUnusedName } from './change-hosts.ts'
import { insertHost } from './hosts-edit.ts'

const flags = z.looseObject({ address: z.string().optional(), role: z.array(z.string()).default(['worker']) })

/** Adds a host to cluster.yml and runs `up`, which installs it and lets it join. */
export const addNode: NodeAction = async (invocation) => {
  const { context, cluster, name, options } = invocation
  const { address, role } = flags.parse(options)
  if (address === undefined) {
    context.stderr.write(`USAGE: where is it? hyperkube node add ${name} --address ADDRESS\n`)
    return exitCodes.usage
  }
  requireUnusedName(cluster, name)
  return changeHosts(invocation, `node add ${name}`, (text) =>
    insertHost(text, { name, address, roles: role }),
  )
}
