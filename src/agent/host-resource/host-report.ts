import type { HostHealth } from '../../contract/health.ts'
import type { Healer } from '../heal/healer.ts'
import type { KnownCertificates } from './host-certificates.ts'
import type { Told } from './host-resource-loop.ts'
import type { MemberTold } from './etcd-report.ts'
import { steady } from './steady.ts'

export interface ToldScene {
  readonly version: string
  readonly healer: Pick<Healer, 'health'>
  readonly certificates: KnownCertificates
  readonly member: MemberTold
}

/** Of late: an object of the API is no journal. */
const mostActions = 10

/** How the host is, in the words of its object. The same as long as the same is the case. */
export function toldOf({ version, healer, certificates, member }: ToldScene) {
  let before: Told = {}
  return async (signal: AbortSignal): Promise<Told> => {
    const health = await healer.health(false, signal)
    const told = {
      agent: version,
      ...healthTold(health),
      certificates: await certificates(),
      ...(await member(signal)),
    }
    before = steady(before, told)
    return before
  }
}

/** What others should know of how a host is. */
export function healthTold({ paused, idle, components, probes, actions }: HostHealth): Told {
  const because = paused === undefined ? idle : `healing is paused by ${paused.by} until ${paused.until}`
  return {
    ...(because === undefined ? {} : { idle: because }),
    components: components.map(({ service: _service, drift: _drift, ...rest }) => rest),
    failing: probes
      .filter(({ state }) => state === 'failing')
      .map(({ scope: _scope, state: _state, ...rest }) => rest),
    actions: actions
      .slice(0, mostActions)
      .map(({ at, component, action, because: why }) => ({ at, component, action, because: why })),
  }
}
