import { type Host, isDisturbed, isTouched, namesOf } from './host.ts'
import type { Scene } from './cluster-state.ts'
import { type Gate, type Step, step } from './step.ts'

/** New servers come first, together: nobody relies on them yet, and the old ones then restart in more company. */
export function apiSteps({ answering }: Scene): Step[] {
  const servers = answering.filter(({ controlPlane }) => controlPlane)
  const turns = servers.filter((host) => isTouched(host, 'api'))
  // At a restart the others must serve: those that are there now, and those that just came.
  const serving = namesOf(servers.filter((host) => host.live.controlPlane || isTouched(host, 'api')))
  return [
    ...together(turns.filter(isNew), 'api', (hosts) => [{ kind: 'api-ready', hosts }]),
    ...oneByOne(turns, 'api', (host) => {
      const others = serving.filter((name) => name !== host)
      return {
        before: others.length === 0 ? [] : [{ kind: 'api-ready', hosts: others }],
        after: [{ kind: 'api-ready', hosts: [host] }],
      }
    }),
  ]
}

export function controllerSteps({ answering }: Scene): Step[] {
  const turns = answering.filter((host) => host.controlPlane && isTouched(host, 'controllers'))
  const ready = (host: string): Gate => ({ kind: 'controllers-ready', host })
  return [
    ...together(turns.filter(isNew), 'controllers', (hosts) => hosts.map(ready)),
    ...oneByOne(turns, 'controllers', (host) => ({ before: [], after: [ready(host)] })),
  ]
}

type ControlPlaneStage = 'api' | 'controllers'

function together(
  hosts: readonly Host[],
  stage: ControlPlaneStage,
  after: (hosts: readonly string[]) => readonly Gate[],
): Step[] {
  if (hosts.length === 0) return []
  const names = namesOf(hosts)
  return [step({ hosts: names, stage, after: after(names) })]
}

function oneByOne(
  turns: readonly Host[],
  stage: ControlPlaneStage,
  gates: (host: string) => Pick<Step, 'before' | 'after'>,
): Step[] {
  return turns
    .filter((host) => !isNew(host))
    .map((host) => {
      const { before, after } = gates(host.name)
      const disruptive = isDisturbed(host, stage)
      return step({ hosts: [host.name], stage, before: disruptive ? before : [], after, disruptive })
    })
}

function isNew({ live }: Host): boolean {
  return !live.controlPlane
}
