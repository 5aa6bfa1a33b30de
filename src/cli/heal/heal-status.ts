import type { HostHealth } from '../../contract/health.ts'
import { askOnce } from '../../lifecycle/request-once.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { hear, type HealCommand } from './heal-command.ts'
import { statusText } from './heal-status-text.ts'

/** `hyperkube heal status [HOST...]`: what is paused, what is given up, and what agents did lately. */
export const status: HealCommand = async (scene) => {
  const { context, options, cluster } = scene
  const heard = await hear(
    scene,
    async (remote, signal) => (await askOnce(remote, { type: 'health' }, 'health', signal)).health,
  )
  const hosts = heard.map((one) => ('reason' in one ? one : { host: one.host, ...told(one.said) }))
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HealStatus', cluster, hosts }
  print(context.stdout, options.output, document, () =>
    statusText(heard, { wide: options.output === 'wide', now: context.now() }, context.paint),
  )
  const isBad = heard.some((one) => 'reason' in one || one.said.components.some(isGivenUp))
  return isBad ? exitCodes.failure : exitCodes.ok
}

function isGivenUp({ state }: HostHealth['components'][number]): boolean {
  return state === 'given-up'
}

/** What is about healing; how all else is, `hyperkube status` tells. */
function told({ at, ladder, paused, idle, budget, components, actions }: HostHealth) {
  return {
    at,
    ladder,
    ...(paused && { paused }),
    ...(idle !== undefined && { idle }),
    budget,
    unwell: components.filter(({ state }) => state !== 'well'),
    actions,
  }
}
