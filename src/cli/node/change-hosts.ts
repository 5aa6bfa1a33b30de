import { z } from 'zod'
import {
  addHost,
  type HostsChange,
  type HostsChangeDeps,
  removeHost,
  replaceHost,
} from '../../actions/change-hosts.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { type ExitCode, exitCodes } from '../command/command.ts'
import { runChangedUp } from '../up/run-changed-up.ts'
import type { NodeAction, NodeInvocation } from './action.ts'

const flags = z.looseObject({
  address: z.string().optional(),
  role: z.array(z.string()).default(['worker']),
  by: z.string().optional(),
})

export const addNode: NodeAction = async (invocation) => {
  const { context, name, options } = invocation
  const { address, role } = flags.parse(options)
  if (address === undefined) {
    context.stderr.write(`USAGE: where is it? hyperkube node add ${name} --address ADDRESS\n`)
    return exitCodes.usage
  }
  return changeHosts(invocation, `node add ${name}`, async (deps) =>
    addHost(deps, { name, address, roles: role }),
  )
}

export const removeNode: NodeAction = async (invocation) => {
  const { name } = invocation
  return changeHosts(invocation, `node remove ${name}`, async (deps) => removeHost(deps, name))
}

export const replaceNode: NodeAction = async (invocation) => {
  const { context, cluster, name, options } = invocation
  limitHosts(cluster, [name])
  const { address, by } = flags.parse(options)
  if (by === undefined || address === undefined) {
    context.stderr.write(`USAGE: by which? hyperkube node replace ${name} --by NAME --address ADDRESS\n`)
    return exitCodes.usage
  }
  return changeHosts(invocation, `node replace ${name}`, async (deps) =>
    replaceHost(deps, name, { name: by, address }),
  )
}

/** Changes the hosts in cluster.yml and runs `up`. */
async function changeHosts(
  { context, options, cluster }: NodeInvocation,
  command: string,
  change: (deps: HostsChangeDeps) => Promise<HostsChange>,
): Promise<ExitCode> {
  return runChangedUp(context, options, command, async () => change({ context, file: options.file, cluster }))
}
