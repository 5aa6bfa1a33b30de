import type { HostReport } from './host-resource-loop.ts'

type Component = NonNullable<HostReport['components']>[number]
type Failing = NonNullable<HostReport['failing']>[number]

/**
 * Keeps the previous entry where only numbers in its text differ. Probes report different milliseconds each
 * time, and every change is an etcd write by every host.
 */
export function keepUnchangedEntries(previous: HostReport, now: HostReport): HostReport {
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
