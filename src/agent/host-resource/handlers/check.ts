import type { Healer } from '../../heal/healer.ts'
import type { Deeds } from '../request-handlers.ts'

/** Asks every probe anew. What is said of the host afterwards is what probes see in their own rhythm. */
export function check(healer: Pick<Healer, 'health'>): Deeds['check'] {
  return async (_ask, signal) => {
    const { components, probes } = await healer.health(true, signal)
    const unwell = components.filter(({ state }) => state !== 'well')
    const failing = probes.filter(({ state }) => state === 'failing' || state === 'shaky')
    const lines = [
      ...unwell.map(({ component, state, because }) => words(`${component} is ${state}`, because)),
      ...failing.map(({ component, probe, seen }) => words(`${component}: ${probe} fails`, seen)),
    ]
    return lines.length > 0 ? lines : [`${components.length} components and ${probes.length} probes are well`]
  }
}

function words(what: string, why: string | undefined): string {
  return why === undefined ? what : `${what}: ${why}`
}
