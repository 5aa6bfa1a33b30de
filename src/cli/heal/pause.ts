import type { HealPause } from '../../contract/health.ts'
import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import { askOnce } from '../../lifecycle/request-once.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { agreed } from '../up/confirm.ts'
import { alike, listed } from '../format-text.ts'
import { type Heard, hear, type HealCommand, type HealScene } from './heal-command.ts'

const usual = 3_600_000

/** `hyperkube heal pause HOST... --for 1h`: a person is at work there. */
export const pause: HealCommand = async (scene) => {
  const { context, options, flags, hosts } = scene
  const { for: time = usual, dryRun, all } = flags
  const verb = dryRun ? 'would heal' : 'heal'
  context.stderr.write(
    `for ${duration(time)} the agents of ${listed(hosts)} ${verb} nothing: what fails there stays so until then, or until hyperkube heal resume\n`,
  )
  if (dryRun) return exitCodes.changesPending
  // Who names hosts knows which; all of them are quickly typed.
  const answer = all ? await agreed(context, options, true) : true
  return answer === true ? setPause(scene, time) : answer
}

/** `hyperkube heal resume HOST...`: agents heal as ever. */
export const resume: HealCommand = async (scene) => {
  const { context, flags, hosts } = scene
  if (!flags.dryRun) return setPause(scene, 0)
  context.stderr.write(`the agents of ${listed(hosts)} would heal again\n`)
  return exitCodes.changesPending
}

async function setPause(scene: HealScene, time: number): Promise<0 | 1> {
  const { context, options, cluster } = scene
  const { user, machine } = context.operator
  const ask = { type: 'pause-healing', for: time, by: `${user}@${machine}` } as const
  const heard = await hear(scene, async (remote, signal) => askOnce(remote, ask, 'healing', signal))
  const hosts = heard.map((one) =>
    'reason' in one ? one : { host: one.host, ...(one.said.paused && { paused: one.said.paused }) },
  )
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HealPauses', cluster, hosts }
  print(context.stdout, options.output, document, () => pausesText(heard))
  return heard.some((one) => 'reason' in one) ? exitCodes.failure : exitCodes.ok
}

function pausesText(heard: readonly Heard<{ readonly paused?: HealPause | undefined }>[]): string {
  const sentence = (one: (typeof heard)[number]): string =>
    'reason' in one
      ? `not reached, and as it was: ${one.reason}`
      : one.said.paused === undefined
        ? 'heals'
        : `healing is paused until ${one.said.paused.until}, by ${one.said.paused.by}`
  return alike(heard, sentence)
    .map(([text, ones]) => printable(`${listed(ones.map(({ host }) => host))}: ${text}\n`))
    .join('')
}
