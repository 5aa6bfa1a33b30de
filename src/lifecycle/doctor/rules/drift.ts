import type { HostLook } from '../../observe/observe-host.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { healingOf } from '../healing.ts'

/** What of a component is not as it was put there: as its agent says, and as one sees it without. */
export function drifted({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap((look) => {
    const { host } = look.place
    const health = look.agent.state === 'answers' ? look.agent.health : undefined
    return [...Map.groupBy(thingsOf(look), ({ component }) => component)].map(([component, things]) => {
      const told = health === undefined ? undefined : healingOf(health, component)
      return {
        code: 'SERVICE_DRIFT',
        severity: 'error',
        what: `what ${component} is made of is not as it was put there`,
        host,
        component,
        evidence: [...new Set(things.map(({ text }) => text))],
        command: commandFor({ code: 'SERVICE_DRIFT', host, component }),
        ...(told === undefined ? {} : { healing: told.healing }),
        needsPerson: health === undefined || (told?.isOver ?? false),
      } as const
    })
  })
}

interface Thing {
  readonly component: string
  readonly text: string
}

function thingsOf({ agent, services, programs, version }: HostLook): Thing[] {
  const health = agent.state === 'answers' ? agent.health : undefined
  if (version === undefined && health === undefined) return []
  const components = health?.components ?? []
  return [
    ...components.flatMap(({ component, drift, service }) => [
      ...drift.map(({ target, name, what }) => ({ component, text: `${target} ${name}: ${what}` })),
      ...(service?.enabled === false ? [notEnabled(component)] : []),
    ]),
    ...services.flatMap(({ name, state, enabled }) => [
      ...(state === 'missing' ? [{ component: name, text: `service ${name}: it has no unit` }] : []),
      ...(state !== 'missing' && enabled === false ? [notEnabled(name)] : []),
    ]),
    ...programs.map(({ service, path }) => ({ component: service, text: `program ${path}: gone or empty` })),
  ]
}

function notEnabled(component: string): Thing {
  return { component, text: `service ${component}: it would not start with the host` }
}
