import type { Healer } from '../../heal/healer.ts'
import type { RequestHandlers } from '../request-handlers.ts'

/** Runs all probes now. The reported host status is still updated at the intervals of the probes. */
export function createCheckHandler(healer: Pick<Healer, 'health'>): RequestHandlers['check'] {
  return async (_action, signal) => {
    const { components, probes } = await healer.health(true, signal)
    const unhealthy = components.filter(({ state }) => state !== 'healthy')
    const failing = probes.filter(({ state }) => state === 'unhealthy' || state === 'degraded')
    const lines = [
      ...unhealthy.map(({ component, state, because }) => withReason(`${component} is ${state}`, because)),
      ...failing.map(({ component, probe, message }) => withReason(`${component}: ${probe} fails`, message)),
    ]
    return lines.length > 0 ? lines : [`${components.length} components and ${probes.length} probes are well`]
  }
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}: ${reason}`
}
