/**
 * The tests of this file use output of real hosts, copied from the GitHub issues in the test names. Values
 * are unchanged, but some properties are left out. Only the first output was JSON; the others are converted.
 */

import { expect, test } from 'vitest'
import { adapterOperations, endpointOperations, networkOperations, policyOperations } from './network.ts'
import { readOutput } from './operation.ts'
import { serviceOperations } from './services.ts'

test('the switch of a node of RKE2, from github.com/rancher/rke2/issues/3925', () => {
  const output = {
    Flags: 0,
    ID: '9DD95ECE-3B9B-417B-9F43-7B58F5B390D1',
    IPv6: false,
    LayeredOn: '9DD00CC2-5D3F-4B30-845D-6397EEA5CBA2',
    MacPools: [{ EndMacAddress: '00-15-5D-EB-4F-FF', StartMacAddress: '00-15-5D-EB-40-00' }],
    ManagementIP: '10.7.0.25',
    MaxConcurrentEndpoints: 0,
    Name: 'External',
    NetworkAdapterName: 'Ethernet 2',
    Policies: [],
    State: 1,
    Subnets: [
      {
        AdditionalParams: {},
        AddressPrefix: '192.168.255.0/30',
        Flags: 0,
        GatewayAddress: '192.168.255.1',
        ID: 'B895E09C-C1FD-497D-BCB7-2F7248C0BFDC',
        IpSubnets: [{ IpAddressPrefix: '192.168.255.0/30', ObjectType: 6, Policies: [], State: 0 }],
        ObjectType: 5,
        Policies: [{ Type: 'VSID', VSID: 9999 }],
        State: 0,
      },
    ],
    SwitchGuid: '9DD95ECE-3B9B-417B-9F43-7B58F5B390D1',
    TotalEndpoints: 0,
    Type: 'Overlay',
    Version: 64_424_509_440,
  }
  expect(readOutput(networkOperations.list, [output])).toEqual([
    {
      id: '9dd95ece-3b9b-417b-9f43-7b58f5b390d1',
      name: 'External',
      type: 'overlay',
      managementAddress: '10.7.0.25',
      adapter: 'Ethernet 2',
      subnets: ['192.168.255.0/30'],
    },
  ])
})

test('a nat network has neither an adapter nor an address, from github.com/projectcalico/calico/issues/8465', () => {
  const output = {
    CurrentEndpointCount: 1,
    Flags: 8,
    ID: '55FEDB88-4B11-4DA4-8CD1-59970718A804',
    IPv6: false,
    Name: 'nat',
    NatName: 'NATF7437238-4A6F-4E71-8718-78A394A7F770',
    Policies: [{ Type: 'VLAN', VLAN: 1 }],
    State: 1,
    Subnets: [{ AddressPrefix: '172.29.144.0/20', Flags: 0, GatewayAddress: '172.29.144.1', ObjectType: 5 }],
    Type: 'nat',
  }
  const [network] = readOutput(networkOperations.list, [output])
  expect(network).toMatchObject({ type: 'nat', adapter: undefined, managementAddress: undefined })
})

test('a policy of kube-proxy, from the same thread', () => {
  const output = {
    Flags: 0,
    HostComputeNetwork: '93C59A4B-F5C0-42AA-BE09-E7480DE1FF3D',
    ID: 'D680D0E7-185B-46A7-B097-37A8B439F588',
    IsApplied: false,
    Policies: [
      {
        ExternalPort: 55_680,
        InternalPort: 55_680,
        IsDSR: true,
        Protocol: 6,
        SourceVIP: '10.244.178.2',
        Type: 'ELB',
      },
    ],
    References: ['/endpoints/c55b2c86-bd06-400e-bca7-8fb7de11e635'],
    State: 2,
    Version: 64_424_509_440,
  }
  expect(readOutput(policyOperations.list, [output])).toEqual([
    {
      id: 'd680d0e7-185b-46a7-b097-37a8b439f588',
      endpoints: ['c55b2c86-bd06-400e-bca7-8fb7de11e635'],
      types: ['ELB'],
      sourceAddress: '10.244.178.2',
    },
  ])
})

test('an endpoint of another node, from github.com/microsoft/SDN/issues/227', () => {
  const output = {
    ID: 'b799ce1e-da48-480d-b2eb-c13436cf5653',
    Name: 'Ethernet',
    VirtualNetwork: '8e68213e-9443-4395-a50c-3977cb7bdba7',
    VirtualNetworkName: 'l2bridge',
    Policies: [{ Type: 'L2Driver' }],
    MacAddress: '00:11:22:33:44:55',
    IPAddress: '10.190.178.37',
    IsRemoteEndpoint: true,
  }
  expect(readOutput(endpointOperations.list, [output])).toMatchObject([
    { address: '10.190.178.37', remote: true },
  ])
})

test('an output that does not match the schema is refused with its path', () => {
  const service = { Name: 'kubelet', State: 'Läuft' }
  expect(() => readOutput(serviceOperations.list, [service])).toThrow(/services\.list .* 0\.State/)
  expect(() => readOutput(adapterOperations.list, [{}])).toThrow(/adapters\.list .* 0\.Name/)
})
