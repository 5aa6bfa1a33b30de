import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { factsFormat } from '../contract/facts.ts'
import { hasErrors } from '../contract/finding.ts'
import {
  checkCaseBriefly,
  checkCase,
  defaultHostLines,
  buildCheckedInput,
} from './checks/testing/fixtures.ts'
import { parseTestCluster, buildPlanInput, type FactsVariation } from './testing/fixtures.ts'
import { checkPlanInput } from './check-plan-input.ts'
import type { PlanInput } from './context.ts'
import { buildTopology } from './topology.ts'

const root = join(import.meta.dirname, '../..')

function findings(input: PlanInput) {
  return checkPlanInput(input, buildTopology(input.cluster, input.facts))
}

describe('preflight checks of ordinary hosts', () => {
  test('find nothing in the default fixture', () => {
    expect(checkCase({})).toEqual([])
  })

  test.each(globSync('examples/*.yml', { cwd: root }))('find nothing in %s', (file) => {
    const input = buildPlanInput(parseTestCluster(readFileSync(join(root, file), 'utf8')))
    const logins = input.cluster.spec.registries.map(({ host }) => [`registry-login/${host}`, 'tag'] as const)
    const identity = { ...input.identity, tags: new Map([...input.identity.tags, ...logins]) }
    const found = findings({ ...input, identity }).filter(({ code }) => code !== 'HOST_NO_WINDOWS_POLICY')
    expect(found).toEqual([])
  })

  test('find only warnings for a recorded lab host', () => {
    const text = readFileSync(join(root, 'src/contract/testdata/facts-lab-host.v1.json'), 'utf8')
    const facts = factsFormat.newest.schema.parse(JSON.parse(text))
    const lines = ['- { name: h1, address: 10.210.0.11, roles: [control-plane, worker] }']
    const input = buildCheckedInput({ hosts: lines })
    const found = findings({ ...input, facts: new Map([['h1', facts]]) })
    expect(found.map(({ code }) => code)).toEqual(['HOST_CGROUP_V1', 'HOST_NO_RESOLVER'])
    expect(hasErrors(found)).toBe(false)
  })
})

test('all findings are reported at once, those of the cluster first, then sorted by host name', () => {
  const linux = { cpus: 1, swap: true }
  const scenario = {
    spec: ['artifacts: { mirror: "https://mirror.example/?a" }'],
    facts: { cp1: { linux }, w1: { linux }, win1: { windows: { rebootPending: true } } },
  }
  const expected = [
    'cluster error MIRROR_NOT_A_BASE',
    'cp1 warning HOST_CPU_SMALL',
    'cp1 warning HOST_SWAP',
    'w1 warning HOST_SWAP',
    'win1 warning HOST_WINDOWS_REBOOT',
  ]
  expect(checkCaseBriefly(scenario)).toEqual(expected)
  expect(checkCaseBriefly({ ...scenario, hosts: defaultHostLines.toReversed() })).toEqual(expected)
})

/** Builds an input in which the worker w1 is repeated `count` times. */
function manyWorkers(count: number, variation: FactsVariation): PlanInput {
  const input = buildCheckedInput({ facts: { w1: variation } })
  const { cluster, facts } = input
  const worker = cluster.spec.hosts.find(({ name }) => name === 'w1')
  const known = facts.get('w1')
  if (worker === undefined || known === undefined) throw new Error('the fixture has a worker w1')
  const names = Array.from({ length: count }, (_, number) => `n${number}`)
  const addressOf = (number: number): string => `10.9.${number >> 8}.${number & 255}`
  const more = names.map((name, number) => {
    const addresses = [{ interface: 'eth0', address: addressOf(number), prefix: 16 }]
    const system = { ...known.system, hostname: name, machineId: name, addresses }
    return [name, { ...known, host: name, system }] as const
  })
  const all = [
    ...cluster.spec.hosts,
    ...names.map((name, number) => ({ ...worker, name, address: addressOf(number) })),
  ]
  return {
    ...input,
    cluster: { ...cluster, spec: { ...cluster.spec, hosts: all } },
    facts: new Map([...facts, ...more]),
  }
}

test.each<[string, FactsVariation, number]>([
  ['without findings', {}, 0],
  ['with findings on each', { linux: { swap: true, firewalls: ['firewalld'], programs: [] } }, 3 * 5001],
])('5,000 hosts %s are checked in under 300 ms of CPU time', (_, variation, expected) => {
  const input = manyWorkers(5000, variation)
  const topology = buildTopology(input.cluster, input.facts)
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    expect(checkPlanInput(input, topology)).toHaveLength(expected)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  // Uses the lowest CPU time of several runs, because other processes may slow down a run.
  expect(Math.min(...times)).toBeLessThan(300)
})
