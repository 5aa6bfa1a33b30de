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
 * Switches are observed through the adapters. The commands for switches come with Hyper-V, which nodes need
 * not have.
 */
export const adapterOperations = {
  list: defineRead({
    name: 'adapters.list',
    input: noInput,
    output: z.array(adapter),
    uses: ['Get-NetAdapter', 'Get-NetIPAddress'],
  }),
}
