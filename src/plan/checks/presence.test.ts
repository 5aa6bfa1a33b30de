import { expect, test } from 'vitest'
import type { PlanInput } from '../scene.ts'
import { findingsOf, hosts } from './fixtures.ts'

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

test('without a control plane or a member of etcd there is no plan', () => {
  expect(findingsOf({ input: silent('cp1', 'etcd1') })).toMatchObject([
    { code: 'HOST_NO_FACTS', severity: 'error', host: 'cp1' },
    { code: 'HOST_NO_FACTS', severity: 'error', host: 'etcd1' },
  ])
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
