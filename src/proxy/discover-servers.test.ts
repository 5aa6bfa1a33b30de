import { expect, test } from 'vitest'
import { parseEndpointSlice } from './discover-servers.ts'

/** The EndpointSlice that kube-apiserver 1.37 publishes, without fields that the proxy does not read. */
const slice = {
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default' },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.0.0.2'], conditions: { ready: true } },
    { addresses: ['10.0.0.1'], conditions: { ready: true } },
  ],
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
}

test('each address of an EndpointSlice is a server, in sorted order', () => {
  expect(parseEndpointSlice(slice)).toEqual(['10.0.0.1:6443', '10.0.0.2:6443'])
})

test('endpoints that are not ready are left out', () => {
  const [first] = slice.endpoints
  expect(
    parseEndpointSlice({
      ...slice,
      endpoints: [first, { addresses: ['10.0.0.3'], conditions: { ready: false } }],
    }),
  ).toEqual(['10.0.0.2:6443'])
})

test('an IPv6 address is written in brackets', () => {
  expect(parseEndpointSlice({ ...slice, endpoints: [{ addresses: ['fd00::1'] }] })).toEqual([
    '[fd00::1]:6443',
  ])
})

test.each([{ ...slice, endpoints: null }, { ...slice, ports: [] }, { kind: 'Status' }])(
  'an EndpointSlice without endpoints or ports has no servers: %j',
  (value) => {
    expect(parseEndpointSlice(value)).toEqual([])
  },
)

test('an invalid address is refused', () => {
  expect(() => parseEndpointSlice({ ...slice, endpoints: [{ addresses: ['a b'] }] })).toThrow('addresses')
})
