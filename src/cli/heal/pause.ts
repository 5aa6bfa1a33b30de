import type { HealPause } from '../../contract/health.ts'
import { groupByText, joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { requestOnce } from '../../lifecycle/agents/request-once.ts'
import { exitCodes } from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { printResult } from '../command/print.ts'
import {
  type HealCommand,
  type HealCommandContext,
  type HostReply,
  requestFromHosts,
} from './heal-command.ts'

const defaultPauseMs = 3_600_000

/** `hyperkube heal pause HOST... --for 1h`: stops healing while an operator works on hosts. */
export const pauseHealing: HealCommand = async (commandContext) => {
  const { context, options, flags, hosts } = commandContext
  const { for: time = defaultPauseMs, dryRun, all } = flags
  const verb = dryRun ? 'would' : 'will'
  context.stderr.write(
    `agents of ${joinNames(hosts)} ${verb} not repair failures for ${formatDuration(time)}, or until hyperkube heal resume\n`,
  )
  if (dryRun) return exitCodes.changesPending
  // Named hosts need no confirmation. --all needs one, because it is easily typed by mistake.
  const confirmation = all ? await confirmChanges(context, options, true) : 'confirmed'
  return confirmation === 'confirmed' ? setPause(commandContext, time) : exitCodeByConfirmation[confirmation]
}

/** `hyperkube heal resume HOST...`: ends a pause, so agents heal again. */
export const resumeHealing: HealCommand = async (commandContext) => {
  const { context, flags, hosts } = commandContext
  if (!flags.dryRun) return setPause(commandContext, 0)
  context.stderr.write(`agents of ${joinNames(hosts)} would resume healing\n`)
  return exitCodes.changesPending
}

async function setPause(commandContext: HealCommandContext, time: number): Promise<0 | 1> {
  const { context, options, cluster } = commandContext
  const { user, machine } = context.operator
  const request = { type: 'pause-healing', for: time, by: `${user}@${machine}` } as const
  const replies = await requestFromHosts(commandContext, async (remote, signal) =>
    requestOnce(remote, request, 'healing', signal),
  )
  const hosts = replies.map((reply) =>
    'reason' in reply
      ? reply
      : { host: reply.host, ...(reply.response.paused && { paused: reply.response.paused }) },
  )
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HealPauses', cluster, hosts }
  printResult(context.stdout, options.output, document, () => formatPauses(replies))
  return replies.some((reply) => 'reason' in reply) ? exitCodes.failure : exitCodes.ok
}

function formatPauses(replies: readonly HostReply<{ readonly paused?: HealPause | undefined }>[]): string {
  const describeReply = (reply: (typeof replies)[number]): string =>
    'reason' in reply
      ? `unreachable, not changed: ${reply.reason}`
      : reply.response.paused === undefined
        ? 'healing is on'
        : `healing is paused until ${reply.response.paused.until}, by ${reply.response.paused.by}`
  return groupByText(replies, describeReply)
    .map(([text, matching]) => toPrintable(`${joinNames(matching.map(({ host }) => host))}: ${text}\n`))
    .join('')
}
