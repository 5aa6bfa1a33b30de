import { z } from 'zod'
import { defineRead, noInput } from './operation.ts'

const adapter = z
  .object({
    Name: z.string(),
    InterfaceIndex: z.int(),
    Status: z.string(),
    MacAddress: z.string().nullable(),
    Virtual: z.boolean(),
    Addresses: z.array(z.object({ IPAddress: z.ipv4(), PrefixLength: z.int() })),
  })
  .transform((raw) => ({
    name: raw.Name,
    index: raw.InterfaceIndex,
    up: raw.Status === 'Up',
    macAddress: raw.MacAddress ?? '',
    /** True for the host side of a virtual switch: `vEthernet (NAME)`. */
    virtual: raw.Virtual,
    addresses: raw.Addresses.map(({ IPAddress, PrefixLength }) => ({
      address: IPAddress,
      prefix: PrefixLength,
    })),
  }))
export type Adapter = z.output<typeof adapter>

/**
 * Operations on network adapters. They also show virtual switches, because the commands for switches need
 * Hyper-V, which a node may not have.
 */
export const adapterOperations = {
  list: defineRead({
    name: 'adapters.list',
    input: noInput,
    output: z.array(adapter),
    uses: ['Get-NetAdapter', 'Get-NetIPAddress'],
  }),
}
