import type { HostHealth } from '../../contract/health.ts'
import type { Healer } from '../heal/healer.ts'
import type { ReadEtcdReport } from './etcd-report.ts'
import type { ReadHostCertificates } from './host-certificates.ts'
import type { HostReport } from './host-resource-loop.ts'

export interface HostReportDeps {
  readonly version: string
  readonly healer: Pick<Healer, 'health'>
  readonly certificates: ReadHostCertificates
  readonly member: ReadEtcdReport
}

/** Maximum number of actions in a report; only the latest ones are kept. */
const maxActions = 10

/**
 * Returns a function that reads the report for the host's API object. If only numbers in its messages change,
 * the report stays the same.
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

type Component = NonNullable<HostReport['components']>[number]
type Failing = NonNullable<HostReport['failing']>[number]

/**
 * Keeps the previous entry if only numbers in its text differ. Otherwise every new duration in a probe result
 * would cause an etcd write by every host.
 */
function keepUnchangedEntries(previous: HostReport, now: HostReport): HostReport {
  const [components, failing] = [previous.components ?? [], previous.failing ?? []]
  return {
    ...now,
    ...(now.components && {
      components: now.components.map((one) => components.find((old) => isSameState(old, one)) ?? one),
    }),
    ...(now.failing && {
      failing: now.failing.map((one) => failing.find((old) => isSameFailure(old, one)) ?? one),
    }),
  }
}

function isSameState(a: Component, b: Component): boolean {
  return (
    a.component === b.component &&
    a.state === b.state &&
    a.code === b.code &&
    withoutNumbers(a.because) === withoutNumbers(b.because)
  )
}

function isSameFailure(a: Failing, b: Failing): boolean {
  return (
    a.component === b.component &&
    a.probe === b.probe &&
    a.code === b.code &&
    withoutNumbers(a.message) === withoutNumbers(b.message)
  )
}

function withoutNumbers(text: string | undefined): string | undefined {
  return text?.replaceAll(/\d+/g, '0')
}
