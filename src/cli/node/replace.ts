import { z } from 'zod'
import { exitCodes } from '../command.ts'
import type { NodeAction } from './action.ts'
import { changeHosts, requireHost, requireUnusedName } from './change-hosts.ts'
import { insertHost, deleteHost } from './hosts-edit.ts'

const flags = z.looseObject({ address: z.string().optional(), by: z.string().optional() })

/** Replaces a host. The new host joins before the old one is removed, unless the old one is lost. */
export const replaceNode: NodeAction = async (invocation) => {
  const { context, cluster, options } = invocation
  const { address, by } = flags.parse(options)
  const { name, roles } = requireHost(cluster, invocation.name)
  if (by === undefined || address === undefined) {
    context.stderr.write(`USAGE: by which? hyperkube node replace ${name} --by NAME --address ADDRESS\n`)
    return exitCodes.usage
  }
  requireUnusedName(cluster, by)
  return changeHosts(invocation, `node replace ${name}`, (text) =>
    insertHost(deleteHost(text, name), { name: by, address, roles }),
  )
}
