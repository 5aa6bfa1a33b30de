import { assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { readVersioned } from '../../contract/versioned.ts'
import {
  metadataDestinations,
  type WindowsNetwork,
  windowsNetworkFile,
  windowsNetworkFormat,
} from '../../contract/windows-network.ts'
import { rangesOverlap, toRange } from '../../spec/cidr.ts'
import { buildCheckedInput } from '../checks/testing/fixtures.ts'
import type { PlanInput } from '../context.ts'
import { planCluster } from '../plan.ts'
import { arbitraryInputs } from '../testing/arbitraries.ts'

/** Reads the network files from the plans as the agent does. */
function readNetworks(input: PlanInput): WindowsNetwork[] {
  return planCluster(input).plans.flatMap(({ components }) =>
    components
      .flatMap(({ files }) => files)
      .filter(({ path }) => path.endsWith(windowsNetworkFile))
      .map(({ content, restart }) => {
        expect(restart).toBe(false)
        if (content.kind !== 'text') throw new Error('the network file is not text')
        return readVersioned(windowsNetworkFormat, JSON.parse(content.text))
      }),
  )
}

function planNetwork(...spec: readonly string[]): WindowsNetwork | undefined {
  return readNetworks(buildCheckedInput({ spec }))[0]
}

test('the network file of a Windows host lists its address, anchor network and overlay network', () => {
  expect(planNetwork()).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'WindowsNetwork',
    address: '10.0.0.31',
    metadata: [],
    overlay: {
      anchor: { name: 'hyperkube-switch', subnet: '192.168.255.0/30', gateway: '192.168.255.1', vsid: 9999 },
      network: { name: 'flannel.4096', type: 'overlay' },
    },
  })
  expect(planNetwork('network: { plugin: none }')).not.toHaveProperty('overlay')
})

test.each([
  ['{ cloud: none }', []],
  ['{ cloud: azure }', ['169.254.169.254/32']],
  ['{ cloud: gcp }', ['169.254.169.254/32']],
  [
    '{ cloud: aws }',
    [
      '169.254.169.123/32',
      '169.254.169.250/32',
      '169.254.169.251/32',
      '169.254.169.253/32',
      '169.254.169.254/32',
    ],
  ],
  [
    '{ cloud: azure, metadataAddresses: [169.254.42.42, 169.254.169.254] }',
    ['169.254.169.254/32', '169.254.42.42/32'],
  ],
])('windows: %s keeps routes to %j', (windows, expected) => {
  expect(planNetwork(`windows: ${windows}`)?.metadata).toEqual(expected)
})

test('the facts of a host cover every metadata destination of each cloud', () => {
  for (const cloud of ['aws', 'azure', 'gcp']) {
    const metadata = planNetwork(`windows: { cloud: ${cloud} }`)?.metadata
    expect(metadataDestinations).toEqual(expect.arrayContaining([...(metadata ?? ['none'])]))
  }
})

test('the subnet of the anchor network never overlaps the pod and service networks', () => {
  const anchorSubnet = (pods: string): string | undefined =>
    planNetwork(`network: { pods: ${pods}, services: 10.96.0.0/16 }`)?.overlay?.anchor.subnet
  expect(anchorSubnet('192.168.0.0/16')).toBe('172.31.255.0/30')
  expect(anchorSubnet('10.244.0.0/16')).toBe('192.168.255.0/30')
  assert(
    property(arbitraryInputs, (input) => {
      const { pods, services } = input.cluster.spec.network
      for (const { overlay } of readNetworks(input)) {
        const subnet = toRange(overlay?.anchor.subnet ?? '192.0.2.0/30')
        for (const own of [...pods, ...services]) expect(rangesOverlap(toRange(own), subnet)).toBe(false)
      }
    }),
    { numRuns: 20 },
  )
})
