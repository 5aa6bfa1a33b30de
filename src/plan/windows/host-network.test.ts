import { assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { metadataDestinations } from '../../contract/cloud-metadata.ts'
import { readVersioned } from '../../contract/versioned.ts'
import {
  type WindowsNetwork,
  windowsNetworkFile,
  windowsNetworkFormat,
} from '../../contract/windows-network.ts'
import { overlap, rangeOf } from '../../spec/cidr.ts'
import { inputs } from '../testing/arbitraries.ts'
import { inputOf } from '../checks/testing/fixtures.ts'
import { planCluster } from '../plan.ts'
import type { PlanInput } from '../context.ts'

/** As the agent finds it in its plan. */
function networksIn(input: PlanInput): WindowsNetwork[] {
  return planCluster(input).plans.flatMap(({ components }) =>
    components
      .flatMap(({ files }) => files)
      .filter(({ path }) => path.endsWith(windowsNetworkFile))
      .map(({ content, restart }) => {
        expect(restart).toBe(false)
        if (content.kind !== 'text') throw new Error('it is no secret')
        return readVersioned(windowsNetworkFormat, JSON.parse(content.text))
      }),
  )
}

function networkOf(...spec: readonly string[]): WindowsNetwork | undefined {
  return networksIn(inputOf({ spec }))[0]
}

test('a host is told which networks to keep', () => {
  expect(networkOf()).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'WindowsNetwork',
    address: '10.0.0.31',
    metadata: [],
    overlay: {
      hold: { name: 'hyperkube-switch', subnet: '192.168.255.0/30', gateway: '192.168.255.1', vsid: 9999 },
      network: { name: 'flannel.4096', type: 'overlay' },
    },
  })
  expect(networkOf('network: { plugin: none }')).not.toHaveProperty('overlay')
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
  expect(networkOf(`windows: ${windows}`)?.metadata).toEqual(expected)
})

test('every destination that a cloud has is looked for on hosts', () => {
  for (const cloud of ['aws', 'azure', 'gcp']) {
    const metadata = networkOf(`windows: { cloud: ${cloud} }`)?.metadata
    expect(metadataDestinations).toEqual(expect.arrayContaining([...(metadata ?? ['none'])]))
  }
})

test('the network that keeps the switch is no part of the cluster’s own', () => {
  const hold = (pods: string): string | undefined =>
    networkOf(`network: { pods: ${pods}, services: 10.96.0.0/16 }`)?.overlay?.hold.subnet
  expect(hold('192.168.0.0/16')).toBe('172.31.255.0/30')
  expect(hold('10.244.0.0/16')).toBe('192.168.255.0/30')
  assert(
    property(inputs, (input) => {
      const { pods, services } = input.cluster.spec.network
      for (const { overlay } of networksIn(input)) {
        const subnet = rangeOf(overlay?.hold.subnet ?? '192.0.2.0/30')
        for (const own of [...pods, ...services]) expect(overlap(rangeOf(own), subnet)).toBe(false)
      }
    }),
    { numRuns: 20 },
  )
})
