import { z } from 'zod'
import { looking, noInput } from './operation.ts'

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
    /** As the host's own side of a switch is: `vEthernet (NAME)`. */
    virtual: raw.Virtual,
    addresses: raw.Addresses.map(({ IPAddress, PrefixLength }) => ({
      address: IPAddress,
      prefix: PrefixLength,
    })),
  }))
export type Adapter = z.output<typeof adapter>

/** Switches are seen by what they do to adapters: the commands about them come only with Hyper-V, which nodes need not have. */
export const adapters = {
  list: looking({
    name: 'adapters.list',
    input: noInput,
    output: z.array(adapter),
    uses: ['Get-NetAdapter', 'Get-NetIPAddress'],
  }),
}
