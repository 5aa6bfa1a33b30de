import { describe, expect, test } from 'vitest'
import type { WindowsSystemFacts } from '../context.ts'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

function found(windows: Partial<WindowsSystemFacts>, ...spec: readonly string[]): string[] {
  return checkCaseBriefly({ spec, facts: { win1: { windows } } })
}

const ethernet = { name: 'Ethernet', up: true, virtual: false }
const anchor = { name: 'hyperkube-switch', type: 'overlay', subnets: ['192.168.255.0/30'] }

function on(name: string): Pick<WindowsSystemFacts, 'addresses'> {
  return { addresses: [{ interface: name, address: '10.0.0.31', prefix: 24 }] }
}

describe('the network adapter of a Windows host', () => {
  test('must be up', () => {
    expect(found({ adapters: [{ ...ethernet, up: false }] })).toEqual([
      'win1 error HOST_WINDOWS_ADAPTER_DOWN',
    ])
  })

  test('may be attached to a virtual switch with its name', () => {
    const side = { name: 'vEthernet (Ethernet)', up: true, virtual: true }
    expect(found({ ...on(side.name), adapters: [ethernet, side] })).toEqual([])
  })

  test('must not be attached to a foreign Hyper-V switch', () => {
    const side = { name: 'vEthernet (Team)', up: true, virtual: true }
    const facts = { ...on(side.name), adapters: [ethernet, side] }
    const taken = ['win1 error HOST_WINDOWS_ADAPTER_VIRTUAL']
    expect(found(facts)).toEqual(taken)
    expect(found({ ...facts, networks: [{ ...anchor, type: 'l2bridge' }] })).toEqual([
      ...taken,
      'win1 warning HOST_WINDOWS_NETWORK',
    ])
    // If hyperkube's own switch exists, the adapter may be virtual.
    expect(found({ ...facts, networks: [anchor] })).toEqual([])
    expect(found(facts, 'network: { plugin: none }')).toEqual([])
  })

  test('is found by its name in cluster.yml after a virtual switch took its address', () => {
    const host = '- { name: win1, address: win1.example, interface: Ethernet, roles: [worker], os: windows }'
    const hosts = ['- { name: cp1, address: 10.0.0.11, roles: [control-plane, worker] }', host]
    const side = { name: 'vEthernet (Ethernet)', up: true, virtual: true }
    const windows = { ...on(side.name), adapters: [ethernet, side], networks: [anchor] }
    expect(checkCaseBriefly({ hosts, facts: { win1: { windows } } })).toEqual([])
    expect(checkCaseBriefly({ hosts, facts: { win1: { windows: on('Other') } } })).toEqual([
      'win1 error HOST_NO_INTERFACE',
    ])
  })
})

test.each<[string, Partial<WindowsSystemFacts['networks'][number]>, readonly string[]]>([
  ['has the desired type and address', { managementAddress: '10.0.0.31' }, []],
  ['has no management address yet', {}, []],
  ['has another type', { type: 'l2bridge' }, ['win1 warning HOST_WINDOWS_NETWORK']],
  [
    'has another management address',
    { managementAddress: '10.0.0.99' },
    ['win1 warning HOST_WINDOWS_NETWORK'],
  ],
  ['is foreign', { name: 'vxlan0' }, ['win1 warning HOST_WINDOWS_NETWORK_OTHER']],
  ['is foreign and uses no adapter', { name: 'nat', type: 'nat' }, []],
])('an HNS network that %s', (_, how, expected) => {
  const network = { name: 'flannel.4096', type: 'overlay', subnets: ['10.244.3.0/24'], ...how }
  expect(found({ networks: [network] })).toEqual(expected)
  expect(found({ networks: [network] }, 'network: { plugin: none }')).toEqual([])
})

describe('routes to cloud metadata servers', () => {
  const metadataRoutes = ['169.254.169.254/32', '169.254.169.253/32']

  test('give a warning if spec.windows.cloud does not keep them', () => {
    const [finding, ...more] = checkCase({ facts: { win1: { windows: { metadataRoutes } } } })
    expect(more).toEqual([])
    expect(finding).toMatchObject({
      code: 'HOST_WINDOWS_METADATA',
      severity: 'warning',
      path: 'spec.windows.cloud',
      message: expect.stringContaining('169.254.169.254/32, 169.254.169.253/32'),
    })
  })

  test('give no warning if spec.windows or plugin none keeps them', () => {
    expect(found({ metadataRoutes }, 'windows: { cloud: aws }')).toEqual([])
    expect(found({ metadataRoutes }, 'windows: { cloud: azure }')).toHaveLength(1)
    const own = 'windows: { cloud: azure, metadataAddresses: [169.254.169.253] }'
    expect(found({ metadataRoutes }, own)).toEqual([])
    expect(found({ metadataRoutes }, 'network: { plugin: none }')).toEqual([])
  })
})
