import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import { parseTestCluster, buildPlanInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'

function components(example: string, host: string): readonly ComponentPlan[] {
  const text = readFileSync(join(import.meta.dirname, '../../../examples', `${example}.yml`), 'utf8')
  const { plans } = planCluster(buildPlanInput(parseTestCluster(text)))
  return plans.find((plan) => plan.host === host)?.components ?? []
}

const hosts = [
  ['single', 'one'],
  ['high-availability', 'cp1'],
  ['high-availability', 'w1'],
  ['dedicated-etcd', 'etcd1'],
] as const

test.each(hosts)('each running component of %s/%s has local probes with unique names', (example, host) => {
  const all = components(example, host)
  for (const { name, probes } of all) {
    expect(new Set(probes.map((probe) => probe.name)).size, name).toBe(probes.length)
  }
  // The agent has no probe, because systemd watches it.
  const running = all.filter(({ name, service }) => service !== undefined && name !== 'hyperkube-agent')
  expect(running.filter((one) => listLocalProbes(one).length === 0)).toEqual([])
})

/**
 * Components whose probes may take longer to report a failure. A restart of one of these components while it
 * is merely slow would slow down all others.
 */
const slowComponents = new Set(['etcd', 'kube-apiserver'])

test.each(hosts)(
  'a stopped component of %s/%s is detected in 30 s, etcd and the API server in 60 s',
  (example, host) => {
    const late = components(example, host).filter((one) => {
      const times = listLocalProbes(one).map(
        ({ intervalMs, timeoutMs, failureThreshold }) => failureThreshold * Math.max(intervalMs, timeoutMs),
      )
      return times.length > 0 && Math.min(...times) > (slowComponents.has(one.name) ? 60_000 : 30_000)
    })
    expect(late).toEqual([])
  },
)

function listLocalProbes({ probes }: ComponentPlan): readonly Probe[] {
  return probes.filter(({ scope }) => scope === 'local')
}

test.each(hosts)('each certificate of %s/%s has a probe', (example, host) => {
  for (const { name, certificates, probes } of components(example, host)) {
    const files = probes.flatMap(({ check }) => (check.kind === 'certificate' ? [check.file] : []))
    expect(files, name).toEqual(certificates.map(({ certificateFile }) => certificateFile))
  }
})

test('only problems that a restart can fix have local probes', () => {
  const all = hosts.flatMap(([example, host]) => components(example, host)).flatMap(({ probes }) => probes)
  const kinds = new Set(all.filter(({ scope }) => scope === 'local').map(({ check }) => check.kind))
  expect(kinds).toEqual(
    new Set(['http', 'grpc', 'cri', 'interface', 'overlay', 'service-rules', 'policy-rules']),
  )
  // A restart cannot repair a lost quorum or a network that another component creates.
  const local = all.filter(({ scope }) => scope === 'local').map(({ name }) => name)
  expect(local).not.toContain('readyz')
  expect(local).not.toContain('network')
})

test('the clock probe of a host compares with other control planes only', () => {
  const clocks = (example: string, host: string): readonly string[] =>
    components(example, host)
      .flatMap(({ probes }) => probes)
      .flatMap(({ check }) => (check.kind === 'clock' ? check.servers : []))
  expect(clocks('single', 'one')).toEqual([])
  expect(clocks('high-availability', 'w1').length).toBe(3)
  expect(clocks('high-availability', 'cp1').length).toBe(2)
})
