import type { HostHealth } from '../../contract/health.ts'
import { requestOnce } from '../../lifecycle/agents/request-once.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { type HealCommand, requestFromHosts } from './heal-command.ts'
import { formatHealStatus } from './heal-status-text.ts'

/** `hyperkube heal status [HOST...]`: shows pauses, exhausted healing and recent actions. */
export const showHealStatus: HealCommand = async (commandContext) => {
  const { context, options, cluster } = commandContext
  const replies = await requestFromHosts(
    commandContext,
    async (remote, signal) => (await requestOnce(remote, { type: 'health' }, 'health', signal)).health,
  )
  const hosts = replies.map((reply) =>
    'reason' in reply ? reply : { host: reply.host, ...toDocument(reply.response) },
  )
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HealStatus', cluster, hosts }
  printResult(context.stdout, options.output, document, () =>
    formatHealStatus(replies, { wide: options.output === 'wide', now: context.now() }, context.paint),
  )
  const hasProblem = replies.some((reply) => 'reason' in reply || reply.response.components.some(isExhausted))
  return hasProblem ? exitCodes.failure : exitCodes.ok
}

function isExhausted({ state }: HostHealth['components'][number]): boolean {
  return state === 'exhausted'
}

/** Selects the fields about healing; `hyperkube status` shows the other fields. */
function toDocument({ at, healPolicy, paused, suspended, budget, components, actions }: HostHealth) {
  return {
    at,
    healPolicy,
    ...(paused && { paused }),
    ...(suspended !== undefined && { suspended }),
    budget,
    unhealthy: components.filter(({ state }) => state !== 'healthy'),
    actions,
  }
}
