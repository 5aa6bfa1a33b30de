import { expect, test } from 'vitest'
import type { PlanInput } from '../context.ts'
import { briefly, findingsOf, hosts } from './testing/fixtures.ts'

function silent(...names: readonly string[]) {
  return (input: PlanInput): PlanInput => ({
    ...input,
    facts: new Map([...input.facts].filter(([name]) => !names.includes(name))),
  })
}

test('a worker of which nothing is known is left out', () => {
  expect(findingsOf({ input: silent('w1') })).toEqual([
    {
      code: 'HOST_NO_FACTS',
      severity: 'warning',
      message: 'nothing is known of the host, so it is left out until it answers',
      hint: 'ssh 10.0.0.21',
      host: 'w1',
    },
  ])
})

/** Control planes, each with a member of etcd. */
function controlPlanes(...addresses: readonly string[]): string[] {
  return addresses.map(
    (address, index) => `- { name: cp${index + 1}, address: ${address}, roles: [control-plane, worker] }`,
  )
}

const three = controlPlanes('10.0.0.11', '10.0.0.12', '10.0.0.13')

test('of three control planes one may be away, and is named by the others all the same', () => {
  expect(findingsOf({ hosts: three, input: silent('cp3') })).toEqual([
    {
      code: 'HOST_NO_FACTS',
      severity: 'warning',
      message: 'nothing is known of the host, so it stays as it is until it answers',
      hint: 'ssh 10.0.0.13',
      host: 'cp3',
    },
  ])
})

test('of three control planes two may not be away, and why is said', () => {
  const findings = findingsOf({ hosts: three, input: silent('cp2', 'cp3') })
  expect(findings.map(({ host, severity, code }) => `${host} ${severity} ${code}`)).toEqual([
    'cp2 error HOST_NO_FACTS',
    'cp2 error PLAN_NO_QUORUM',
    'cp3 error HOST_NO_FACTS',
    'cp3 error PLAN_NO_QUORUM',
  ])
  expect(findings[1]).toMatchObject({
    message: 'etcd would have no quorum: 1 of 3 members are left, and more than half are needed',
    hint: 'once more than half answer: hyperkube up; if they are lost for good: hyperkube etcd recover',
  })
})

test('of one or two none may be away', () => {
  const two = controlPlanes('10.0.0.11', '10.0.0.12')
  expect(briefly({ hosts: two, input: silent('cp2') })).toContain('cp2 error PLAN_NO_QUORUM')
  expect(briefly({ input: silent('cp1', 'etcd1') })).toEqual([
    'cp1 error HOST_NO_FACTS',
    'cp1 error PLAN_NO_QUORUM',
    'etcd1 error HOST_NO_FACTS',
    'etcd1 error PLAN_NO_QUORUM',
  ])
})

test('of members of etcd alone one of three may be away, but not half of the control planes', () => {
  const apart = [
    ...['10.0.0.21', '10.0.0.22', '10.0.0.23'].map(
      (address, index) => `- { name: e${index + 1}, address: ${address}, roles: [etcd] }`,
    ),
    ...controlPlanes('10.0.0.11', '10.0.0.12'),
  ]
  expect(briefly({ hosts: apart, input: silent('e1') })).toEqual(['e1 warning HOST_NO_FACTS'])
  const [, finding] = findingsOf({ hosts: apart, input: silent('cp2') })
  expect(finding).toMatchObject({
    code: 'PLAN_NO_QUORUM',
    message: '1 of 2 control planes are left: more than half must agree on who changes the cluster',
  })
})

test('one whose address only itself could say is needed', () => {
  const named = controlPlanes('10.0.0.11', '10.0.0.12', 'cp3.example.com')
  const [known, finding] = findingsOf({ hosts: named, input: silent('cp3') })
  expect(known).toMatchObject({ code: 'HOST_NO_FACTS', severity: 'error', host: 'cp3' })
  expect(finding).toMatchObject({ code: 'HOST_NO_ADDRESS', severity: 'error', path: 'spec.hosts[2]' })
})

test('when nobody answers, nothing is said of a quorum', () => {
  const nobody = silent('cp1', 'etcd1', 'w1', 'win1')
  expect(briefly({ input: nobody }).join()).not.toContain('PLAN_NO_QUORUM')
})

test('the hint is the way that hyperkube itself takes', () => {
  const spec = ['ssh: { user: ops, port: 2222, bastion: { address: jump.example.com, user: me, port: 23 } }']
  expect(findingsOf({ spec, input: silent('w1') })[0]?.hint).toBe(
    'ssh -J me@jump.example.com:23 -p 2222 ops@10.0.0.21',
  )
})

test('a host with another system than cluster.yml says is asked nothing else', () => {
  const lines = [...hosts.slice(0, 2), '- { name: w1, address: 10.0.0.21, roles: [worker], os: windows }']
  const asLinux = (input: PlanInput): PlanInput => {
    const cp1 = input.facts.get('cp1')
    return { ...input, facts: new Map([...input.facts, ...(cp1 ? [['w1', cp1] as const] : [])]) }
  }
  expect(findingsOf({ hosts: lines, input: asLinux })).toEqual([
    {
      code: 'HOST_OTHER_OS',
      severity: 'error',
      message: 'cluster.yml says windows, but the host runs linux',
      hint: 'os: linux',
      path: 'spec.hosts[2].os',
      host: 'w1',
    },
  ])
})
