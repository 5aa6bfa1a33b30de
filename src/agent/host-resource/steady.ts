import type { Told } from './host-resource-loop.ts'

type Component = NonNullable<Told['components']>[number]
type Failing = NonNullable<Told['failing']>[number]

/**
 * What is told now, in the words of before where the same is the case. Probes see another number of milliseconds each time,
 * and every change is a write to etcd from every host.
 */
export function steady(before: Told, now: Told): Told {
  const [components, failing] = [before.components ?? [], before.failing ?? []]
  return {
    ...now,
    ...(now.components && {
      components: now.components.map((one) => components.find((former) => sameState(former, one)) ?? one),
    }),
    ...(now.failing && {
      failing: now.failing.map((one) => failing.find((former) => sameFailure(former, one)) ?? one),
    }),
  }
}

function sameState(a: Component, b: Component): boolean {
  return (
    a.component === b.component &&
    a.state === b.state &&
    a.code === b.code &&
    withoutNumbers(a.because) === withoutNumbers(b.because)
  )
}

function sameFailure(a: Failing, b: Failing): boolean {
  return (
    a.component === b.component &&
    a.probe === b.probe &&
    a.code === b.code &&
    withoutNumbers(a.seen) === withoutNumbers(b.seen)
  )
}

function withoutNumbers(text: string | undefined): string | undefined {
  return text?.replaceAll(/\d+/g, '0')
}
