import type { HostHealth } from '../../contract/health.ts'
import type { Healer } from '../heal/healer.ts'
import type { ReadHostCertificates } from './host-certificates.ts'
import type { HostReport } from './host-resource-loop.ts'
import type { ReadEtcdReport } from './etcd-report.ts'
import { keepUnchangedEntries } from './steady.ts'

export interface HostReportDeps {
  readonly version: string
  readonly healer: Pick<Healer, 'health'>
  readonly certificates: ReadHostCertificates
  readonly member: ReadEtcdReport
}

/** Only the latest actions: an API object is not a journal. */
const maxActions = 10

/**
 * Returns a function that reads the report for the host's API object. The report stays equal while only
 * numbers in its texts change.
 */
export function createHostReporter({ version, healer, certificates, member }: HostReportDeps) {
  let previous: HostReport = {}
  return async (signal: AbortSignal): Promise<HostReport> => {
    const health = await healer.health(false, signal)
    const report = {
      agent: version,
      ...toHealthReport(health),
      certificates: await certificates(),
      ...(await member(signal)),
    }
    previous = keepUnchangedEntries(previous, report)
    return previous
  }
}

/** Converts the health of a host to the fields that controllers need. */
export function toHealthReport({ paused, suspended, components, probes, actions }: HostHealth): HostReport {
  const because = paused === undefined ? suspended : `healing is paused by ${paused.by} until ${paused.until}`
  return {
    ...(because === undefined ? {} : { suspended: because }),
    components: components.map(({ service: _service, drift: _drift, ...rest }) => rest),
    failing: probes
      .filter(({ state }) => state === 'unhealthy')
      .map(({ scope: _scope, state: _state, ...rest }) => rest),
    actions: actions
      .slice(0, maxActions)
      .map(({ at, component, action, because: reason }) => ({ at, component, action, because: reason })),
  }
}
