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
import { removeCompromisedHost } from './remove-compromised.ts'

const addFlags = z.looseObject({
  address: z.string(),
  role: z.array(z.string()).default(['worker']),
})
const replaceFlags = z.looseObject({ address: z.string(), by: z.string() })

export const addNode: NodeAction = async (invocation) => {
  const { name, options } = invocation
  const { address, role } = addFlags.parse(options)
  return changeHosts(invocation, `node add ${name}`, async (deps) =>
    addHost(deps, { name, address, roles: role }),
  )
}

const removeFlags = z.looseObject({
  compromised: z.boolean().default(false),
  restartPods: z.boolean().default(false),
})

export const removeNode: NodeAction = async (invocation) => {
  const { context, name, options } = invocation
  const { compromised, restartPods } = removeFlags.parse(options)
  if (compromised) return removeCompromisedHost(invocation)
  if (restartPods) {
    context.stderr.write('USAGE: --restart-pods needs --compromised; nothing was changed\n')
    return exitCodes.usage
  }
  return changeHosts(invocation, `node remove ${name}`, async (deps) => removeHost(deps, name))
}

export const replaceNode: NodeAction = async (invocation) => {
  const { cluster, name, options } = invocation
  limitHosts(cluster, [name])
  const { address, by } = replaceFlags.parse(options)
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
