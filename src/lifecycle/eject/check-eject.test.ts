import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { planCluster } from '../../plan/plan.ts'
import {
  buildPlanInput,
  buildTestCluster,
  parseTestCluster,
  testIdentity,
} from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { checkEject } from './check-eject.ts'
import type { EjectInput } from './eject-context.ts'

let identity: Identity

beforeAll(async () => {
  identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
})

function buildInput(cluster: Cluster): EjectInput {
  const { plans } = planCluster(buildPlanInput(cluster))
  expect(plans.length).toBe(cluster.spec.hosts.length)
  return { cluster, plans, cas: testIdentity.cas, serviceAccountKey: testIdentity.serviceAccountKeys }
}

function listCodes(cluster: Cluster, changes: Partial<Identity> = {}): string[] {
  return checkEject(buildInput(cluster), { ...identity, ...changes }).map(({ code }) => code)
}

function readExample(name: string): Cluster {
  const path = join(import.meta.dirname, `../../../examples/${name}.yml`)
  return parseTestCluster(readFileSync(path, 'utf8'))
}

const one = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }')

test('a cluster with one control plane can be handed over', () => {
  expect(listCodes(one)).toEqual([])
})

test('several control planes need a common address', () => {
  const { spec, ...rest } = readExample('high-availability')
  const { endpoint: _, virtualIP: __, ...api } = spec.api
  expect(listCodes({ ...rest, spec: { ...spec, api } })).toEqual(['EJECT_NO_ENDPOINT'])
  expect(listCodes({ ...rest, spec: { ...spec, api: { ...api, virtualIP: '192.168.1.10' } } })).toEqual([])
})

test('a cluster with IPv6 first is refused', () => {
  const { spec, ...rest } = one
  const network = {
    ...spec.network,
    pods: ['fd00:10:244::/56', '10.244.0.0/16'],
    services: ['fd00:10:96::/112', '10.96.0.0/16'],
  }
  const hosts = spec.hosts.map((host) => ({ ...host, internalAddressIPv6: 'fd00::1' }))
  expect(listCodes({ ...rest, spec: { ...spec, network, hosts } })).toEqual(['EJECT_IPV6_FIRST'])
})

test('Windows hosts are refused', () => {
  expect(listCodes(readExample('windows'))).toContain('EJECT_WINDOWS')
})

test('etcd on hosts of its own is refused', () => {
  expect(listCodes(readExample('dedicated-etcd'))).toContain('EJECT_DEDICATED_ETCD')
})

test('keys that are being replaced are refused', () => {
  const { kubernetes } = identity.cas
  const replacement = { phase: 'distrust', previous: kubernetes.certificate } as const
  const cas = { ...identity.cas, kubernetes: { ...kubernetes, replacement } }
  expect(listCodes(one, { cas })).toEqual(['EJECT_ROTATION'])
})

test('a held upgrade is refused', () => {
  const heldUpgrade = { to: '1.37.1', since: '2026-11-15T00:00:00Z' }
  const held = { ...one, spec: { ...one.spec, heldUpgrade } }
  const { plans } = planCluster(buildPlanInput(one))
  const codes = checkEject({ ...buildInput(one), cluster: held, plans }, identity).map(({ code }) => code)
  expect(codes).toEqual(['EJECT_HELD_UPGRADE'])
})

test('different settings of kube-proxy, and its flags, are refused', () => {
  const kubeProxy = { ...one.spec.components.kubeProxy, args: { v: '4' } }
  const flags = { ...one, spec: { ...one.spec, components: { ...one.spec.components, kubeProxy } } }
  expect(listCodes(flags)).toEqual(['EJECT_KUBE_PROXY'])
  const input = buildInput(
    buildTestCluster(
      '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
      '{ name: w1, address: 10.0.0.2, roles: [worker], components: { kubeProxy: { config: { mode: iptables } } } }',
    ),
  )
  expect(checkEject(input, identity).map(({ code }) => code)).toEqual(['EJECT_KUBE_PROXY'])
})
