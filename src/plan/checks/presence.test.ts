import { expect, test } from 'vitest'
import type { PlanInput } from '../context.ts'
import { checkCaseBriefly, checkCase, defaultHostLines } from './testing/fixtures.ts'

function withoutFacts(...names: readonly string[]) {
  return (input: PlanInput): PlanInput => ({
    ...input,
    facts: new Map([...input.facts].filter(([name]) => !names.includes(name))),
  })
}

test('a worker without facts is a warning and is skipped', () => {
  expect(checkCase({ input: withoutFacts('w1') })).toEqual([
    {
      code: 'HOST_NO_FACTS',
      severity: 'warning',
      message: 'the host has no facts, and is skipped until it is reachable',
      hint: 'ssh 10.0.0.21',
      host: 'w1',
    },
  ])
})

/** Builds the lines of cluster.yml for control planes that also run etcd and pods. */
function controlPlanes(...addresses: readonly string[]): string[] {
  return addresses.map(
    (address, index) => `- { name: cp${index + 1}, address: ${address}, roles: [control-plane, worker] }`,
  )
}

const three = controlPlanes('10.0.0.11', '10.0.0.12', '10.0.0.13')

test('with three control planes, one without facts is a warning', () => {
  expect(checkCase({ hosts: three, input: withoutFacts('cp3') })).toEqual([
    {
      code: 'HOST_NO_FACTS',
      severity: 'warning',
      message: 'the host has no facts, and stays unchanged until it is reachable',
      hint: 'ssh 10.0.0.13',
      host: 'cp3',
    },
  ])
})

test('with three control planes, two without facts are errors with the reason', () => {
  const findings = checkCase({ hosts: three, input: withoutFacts('cp2', 'cp3') })
  expect(findings.map(({ host, severity, code }) => `${host} ${severity} ${code}`)).toEqual([
    'cp2 error HOST_NO_FACTS',
    'cp2 error PLAN_NO_QUORUM',
    'cp3 error HOST_NO_FACTS',
    'cp3 error PLAN_NO_QUORUM',
  ])
  expect(findings[1]).toMatchObject({
    message: 'etcd would have no quorum: 1 of 3 members are reachable, and more than half are needed',
    hint: 'when more than half are reachable: hyperkube up; if they are lost permanently: hyperkube etcd recover',
  })
})

test('with two etcd members, one or two without facts are errors', () => {
  const two = controlPlanes('10.0.0.11', '10.0.0.12')
  expect(checkCaseBriefly({ hosts: two, input: withoutFacts('cp2') })).toContain('cp2 error PLAN_NO_QUORUM')
  expect(checkCaseBriefly({ input: withoutFacts('cp1', 'etcd1') })).toEqual([
    'cp1 error HOST_NO_FACTS',
    'cp1 error PLAN_NO_QUORUM',
    'etcd1 error HOST_NO_FACTS',
    'etcd1 error PLAN_NO_QUORUM',
  ])
})

test('one of three dedicated etcd members may lack facts, one of two control planes may not', () => {
  const apart = [
    ...['10.0.0.21', '10.0.0.22', '10.0.0.23'].map(
      (address, index) => `- { name: e${index + 1}, address: ${address}, roles: [etcd] }`,
    ),
    ...controlPlanes('10.0.0.11', '10.0.0.12'),
  ]
  expect(checkCaseBriefly({ hosts: apart, input: withoutFacts('e1') })).toEqual(['e1 warning HOST_NO_FACTS'])
  const [, finding] = checkCase({ hosts: apart, input: withoutFacts('cp2') })
  expect(finding).toMatchObject({
    code: 'PLAN_NO_QUORUM',
    message: '1 of 2 control planes are reachable: the operator lock needs more than half',
  })
})

test('a control plane without facts whose address is a DNS name is an error', () => {
  const named = controlPlanes('10.0.0.11', '10.0.0.12', 'cp3.example.com')
  const [known, finding] = checkCase({ hosts: named, input: withoutFacts('cp3') })
  expect(known).toMatchObject({ code: 'HOST_NO_FACTS', severity: 'error', host: 'cp3' })
  expect(finding).toMatchObject({ code: 'HOST_NO_ADDRESS', severity: 'error', path: 'spec.hosts[2]' })
})

test('if no host is reachable, the quorum is not reported', () => {
  const noneReachable = withoutFacts('cp1', 'etcd1', 'w1', 'win1')
  expect(checkCaseBriefly({ input: noneReachable }).join()).not.toContain('PLAN_NO_QUORUM')
})

test('the hint is an ssh command with the user, port and bastion of cluster.yml', () => {
  const spec = ['ssh: { user: ops, port: 2222, bastion: { address: jump.example.com, user: me, port: 23 } }']
  expect(checkCase({ spec, input: withoutFacts('w1') })[0]?.hint).toBe(
    'ssh -J me@jump.example.com:23 -p 2222 ops@10.0.0.21',
  )
})

test('a host with another OS than in cluster.yml gets only that finding', () => {
  const lines = [
    ...defaultHostLines.slice(0, 2),
    '- { name: w1, address: 10.0.0.21, roles: [worker], os: windows }',
  ]
  const asLinux = (input: PlanInput): PlanInput => {
    const cp1 = input.facts.get('cp1')
    return { ...input, facts: new Map([...input.facts, ...(cp1 ? [['w1', cp1] as const] : [])]) }
  }
  expect(checkCase({ hosts: lines, input: asLinux })).toEqual([
    {
      code: 'HOST_OTHER_OS',
      severity: 'error',
      message: 'os is windows in cluster.yml, but the host runs linux',
      hint: 'os: linux',
      path: 'spec.hosts[2].os',
      host: 'w1',
    },
  ])
})
